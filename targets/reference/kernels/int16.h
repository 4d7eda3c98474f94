/* Functions of 16-bit integers, without a table of every value. */
#ifndef REFERENCE_INT16_H
#define REFERENCE_INT16_H

#include "kernel.h"

struct interpolate_int16_shape {
    int32_t count;
};
struct s_curve_int16_shape {
    int32_t count;
    int32_t multiplier, right_shift; /* to units of 1 / (24 * 512) of the logistic's argument */
};
struct two_slopes_int16_shape {
    int32_t count, absolute; /* absolute: negative numbers become positive first */
    int32_t input_zero_point, output_zero_point;
    int32_t multiplier[2], shift[2]; /* of positive, of negative numbers */
    int32_t low, high;
};

/* table[i] is the output for (i - 256) * 128; linear in between. */
KILN_KERNEL void interpolate_int16__reference(const struct interpolate_int16_shape *s,
                                              const int16_t *input, const int16_t *table,
                                              int16_t *output) {
    for (int32_t i = 0; i < s->count; i++) {
        const int32_t x = input[i];
        const int16_t *entry = table + 256 + (x >> 7);
        const int32_t slope = (int16_t)(entry[1] - entry[0]);
        output[i] = (int16_t)(entry[0] + ((slope * (x & 127) + 64) >> 7));
    }
}

KILN_INLINE int32_t kiln_s_curve_position(const struct s_curve_int16_shape *s, int32_t x) {
    const int32_t nudge = s->right_shift > 0 ? 1 << (s->right_shift - 1) : 0;
    return (x * s->multiplier + nudge) >> s->right_shift;
}

/* The logistic curve at `magnitude` with 16 + `bits` fraction bits; `most` beyond the table. */
KILN_INLINE int32_t kiln_s_curve(const uint16_t *table, int32_t magnitude, int32_t bits,
                                 int32_t most) {
    const int32_t index = magnitude >> bits;
    if (index >= 255)
        return most;
    const int32_t rest = magnitude & ((1 << bits) - 1);
    return (table[index] << bits) + rest * (table[index + 1] - table[index]);
}

/* table: logistic(i / 24) with 16 fraction bits. */
KILN_KERNEL void logistic_int16__reference(const struct s_curve_int16_shape *s,
                                           const int16_t *input, const uint16_t *table,
                                           int16_t *output) {
    for (int32_t i = 0; i < s->count; i++) {
        const int32_t position = kiln_s_curve_position(s, input[i]);
        const int32_t magnitude = position < 0 ? -position : position;
        const int32_t curve = kiln_s_curve(table, magnitude, 9, 0x7FFF << 10);
        const int32_t value = position >= 0 ? curve + (1 << 9) : (1 << 25) - curve + (1 << 9) - 1;
        output[i] = (int16_t)(value >> 10);
    }
}

/* tanh(x) = 2 * logistic(2 x) - 1: one bit less of the fraction doubles the argument. */
KILN_KERNEL void tanh_int16__reference(const struct s_curve_int16_shape *s, const int16_t *input,
                                       const uint16_t *table, int16_t *output) {
    const int32_t half = 1 << 23, nudge = 1 << 7;
    for (int32_t i = 0; i < s->count; i++) {
        const int32_t position = kiln_s_curve_position(s, input[i]);
        const int32_t magnitude = position < 0 ? -position : position;
        const int32_t curve = kiln_s_curve(table, magnitude, 8, 0xFFFF << 8);
        const int32_t value = position >= 0 ? curve - half + nudge : half - curve + nudge - 1;
        output[i] = (int16_t)(value >> 8);
    }
}

KILN_KERNEL void two_slopes_int16__reference(const struct two_slopes_int16_shape *s,
                                             const int16_t *input, int16_t *output) {
    for (int32_t i = 0; i < s->count; i++) {
        int32_t value = input[i] - s->input_zero_point;
        if (s->absolute && value < 0)
            value = -value;
        const int32_t sign = value < 0;
        value = kiln_multiply_quantized(value, s->multiplier[sign], s->shift[sign]);
        output[i] = (int16_t)kiln_clamp(value + s->output_zero_point, s->low, s->high);
    }
}

#endif
