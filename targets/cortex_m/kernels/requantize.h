/* From sums to int8 outputs, with the constants of a channel laid out for the fewest instructions.
 */
#ifndef CORTEX_M_REQUANTIZE_H
#define CORTEX_M_REQUANTIZE_H

#include "cortex_m/kernels/simd.h"

/* How a kernel requantizes, and its constants; the first two know that every scale is below 1/2.
 * Shifts are to the right but in CORTEX_M_ANY, where those above 0 are to the left.
 *
 *     CORTEX_M_DOUBLE   KILN_ROUND_TFLITE   int32 {2 * bias, multiplier, shift - 1}[channels]
 *     CORTEX_M_SINGLE   KILN_ROUND_SINGLE   the same
 *     CORTEX_M_FAST     KILN_ROUND_FAST     {int32 2 * bias, float scale / 2}[channels]
 *     CORTEX_M_ANY      shape->rounding     int32 {2 * bias, multiplier, shift}[channels], or as
 *                                           CORTEX_M_FAST
 */
enum cortex_m_rounding { CORTEX_M_DOUBLE, CORTEX_M_SINGLE, CORTEX_M_FAST, CORTEX_M_ANY };

#define CORTEX_M_OUTPUT_MEMBERS                                                                    \
    int32_t output_zero_point;                                                                     \
    int32_t clamp_low, clamp_high; /* output integers */                                           \
    int32_t rounding;              /* enum kiln_rounding */

/* Words of constants per channel. */
KILN_INLINE int32_t cortex_m_words(int32_t mode, int32_t rounding) {
    return mode == CORTEX_M_FAST || (mode == CORTEX_M_ANY && rounding == KILN_ROUND_FAST) ? 2 : 3;
}

/* A channel's constants with what they imply; the assembly in dsp.h knows the order. */
struct cortex_m_channel {
    int32_t bias;       /* doubled */
    int32_t multiplier; /* or the bits of a float, the scale's half */
    int32_t shift;
    int32_t offset; /* the zero point and half a unit before the shift; else the zero point */
};

KILN_INLINE struct cortex_m_channel cortex_m_channel(int32_t mode, int32_t rounding,
                                                     const int32_t *constants, int32_t zero_point) {
    struct cortex_m_channel c = {constants[0], constants[1], 0, zero_point};
    if (cortex_m_words(mode, rounding) == 3)
        c.shift = constants[2];
    if (mode == CORTEX_M_DOUBLE || mode == CORTEX_M_SINGLE)
        c.offset = (int32_t)((uint32_t)(2 * zero_point + 1) << c.shift);
    return c;
}

/* An output from a sum. `saturates`: the clamp is the range of int8. */
KILN_INLINE int8_t cortex_m_requantize(int32_t mode, int32_t rounding, struct cortex_m_channel c,
                                       int32_t sum, int32_t saturates, int32_t low, int32_t high) {
    const int32_t doubled = c.bias + sum * 2;
    int32_t value;
    if (cortex_m_words(mode, rounding) == 2) {
        float scale;
        memcpy(&scale, &c.multiplier, 4);
        value = cortex_m_round((float)doubled * scale) + c.offset;
    } else if (mode == CORTEX_M_SINGLE) {
        value = (cortex_m_high_product(doubled, c.multiplier) + c.offset) >> c.shift >> 1;
    } else if (mode == CORTEX_M_DOUBLE) {
        /* One less where negative: a tie is then rounded away from zero. */
        const int32_t rounded = cortex_m_rounded_high_product(doubled, c.multiplier);
        value = (rounded + (rounded >> 31) + c.offset) >> c.shift >> 1;
    } else {
        value = c.offset + (rounding == KILN_ROUND_SINGLE
                                ? kiln_multiply_single(doubled >> 1, c.multiplier, c.shift)
                                : kiln_multiply_quantized(doubled >> 1, c.multiplier, c.shift));
    }
    return (int8_t)(saturates ? cortex_m_saturate(value) : kiln_clamp(value, low, high));
}

#endif
