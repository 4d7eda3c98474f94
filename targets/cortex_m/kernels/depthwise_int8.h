/* int8 depthwise convolution: rows of four channels at a time are spread to a plane of 16 bits per
 * channel, in a ring of rows, so that neighbours are multiplied in pairs. */
#ifndef CORTEX_M_DEPTHWISE_INT8_H
#define CORTEX_M_DEPTHWISE_INT8_H

#include "cortex_m/kernels/row_3x3.h"

#define CORTEX_M_GROUP 4 /* channels that are spread at a time */
#define CORTEX_M_DEPTHWISE_ROWS 16

/* A tap row is padded to 2 * halves + 1 taps. A line of the ring has `blocks` blocks of `length`
 * elements: element e of block b is column b * stride_x + e * dilation_x - pad_left. Windows begin
 * `step` elements apart: 1 where there is one block and stride_x is 1, else an even number. */
struct cortex_m_depthwise_int8_shape {
    int32_t batch, input_height, input_width, channels;
    int32_t output_height, output_width;
    int32_t kernel_height, halves;
    int32_t stride_y, stride_x, dilation_y, dilation_x;
    int32_t pad_top, pad_left;
    int32_t input_zero_point;
    int32_t blocks, length, step;
    int32_t pitch; /* elements of a line; even */
    int32_t slots; /* rows of the ring */
    CORTEX_M_OUTPUT_MEMBERS
};

/* Spreads one input row of four channels to lines `pitch` apart, from column -pad_left on; `row` is
 * NULL outside of the image. */
KILN_SHARED __attribute__((unused)) void
cortex_m_spread(const struct cortex_m_depthwise_int8_shape *s, const int8_t *row, int16_t *to) {
    const int32_t channels = s->channels, pitch = s->pitch;
    const uint32_t outside = (uint32_t)(uint8_t)s->input_zero_point * 0x01010101u;
    const int32_t end = row == NULL ? 0 : s->input_width;
    int32_t x = -s->pad_left;
    const int32_t last = x + s->length, inside = end < last ? end : last;
    uint32_t first, second;
    for (; x + 1 < 0 || (x < 0 && inside <= 0); x += 2, to += 2)
        cortex_m_transpose_pair(outside, outside, to, pitch);
    if (x < 0) {
        memcpy(&second, row, 4);
        cortex_m_transpose_pair(outside, second, to, pitch);
        x += 2, to += 2;
    }
    const int8_t *from = row == NULL ? NULL : row + x * channels;
    CORTEX_M_NO_UNROLL
    for (; x + 1 < inside; x += 2, to += 2, from += 2 * channels) {
        memcpy(&first, from, 4);
        memcpy(&second, from + channels, 4);
        cortex_m_transpose_pair(first, second, to, pitch);
    }
    if (x < inside) {
        memcpy(&first, from, 4);
        cortex_m_transpose_pair(first, outside, to, pitch);
        x += 2, to += 2;
    }
    for (; x < last; x += 2, to += 2)
        cortex_m_transpose_pair(outside, outside, to, pitch);
}

/* The same for fewer channels, and for blocks. */
KILN_SHARED __attribute__((unused)) void
cortex_m_spread_any(const struct cortex_m_depthwise_int8_shape *s, const int8_t *row, int32_t count,
                    int16_t *to) {
    for (int32_t c = 0; c < count; c++, to += s->pitch) {
        int16_t *line = to;
        for (int32_t block = 0; block < s->blocks; block++) {
            int32_t x = block * s->stride_x - s->pad_left;
            for (int32_t i = 0; i < s->length; i++, x += s->dilation_x) {
                const int32_t inside = row != NULL && x >= 0 && x < s->input_width;
                *line++ = (int16_t)(inside ? row[x * s->channels + c] : s->input_zero_point);
            }
        }
    }
}

/* Records lie in scratch, channel by channel: its taps, pairs of all neighbours of a row in 16
 * bits, (0 1) (1 2) (2 3) ..., row by row; then the rest of struct cortex_m_record_3x3. */
struct cortex_m_record_end {
    struct cortex_m_channel channel;
    int32_t steps[4];
};

KILN_INLINE int32_t cortex_m_record_elements(int32_t height, int32_t halves) {
    return 4 * halves * height + (int32_t)sizeof(struct cortex_m_record_end) / 2;
}

/* sums += a row of taps times the elements of two outputs, which begin `step` elements apart. */
KILN_INLINE void cortex_m_taps(int32_t halves, int32_t step, const int16_t *row,
                               const int16_t *taps, int32_t sums[2]) {
    const int16_t *other = row + step;
#if CORTEX_M_DSP
    int32_t first = sums[0], second = sums[1], x, y, pair, next;
    if (step == 1) {
        __asm__ volatile(
            "ldr %[x], [%[row]], #4\n\t"
            "ldr %[pair], [%[taps]]\n\t"
            "smlatb %[second], %[x], %[pair], %[second]\n"
            "1:\n\t"
            "ldrd %[pair], %[next], [%[taps]], #8\n\t"
            "smlad %[first], %[x], %[pair], %[first]\n\t"
            "ldr %[x], [%[row]], #4\n\t"
            "subs %[halves], %[halves], #1\n\t"
            "smlad %[second], %[x], %[next], %[second]\n\t"
            "bne 1b\n\t"
            "smlabt %[first], %[x], %[next], %[first]"
            : [row] "+r"(row), [taps] "+r"(taps), [halves] "+r"(halves), [first] "+r"(first),
              [second] "+r"(second), [x] "=&r"(x), [pair] "=&r"(pair), [next] "=&r"(next)
            :
            : "cc", "memory");
    } else {
        __asm__ volatile("1:\n\t"
                         "ldrd %[pair], %[next], [%[taps]], #8\n\t"
                         "ldr %[x], [%[row]], #4\n\t"
                         "ldr %[y], [%[other]], #4\n\t"
                         "subs %[halves], %[halves], #1\n\t"
                         "smlad %[first], %[x], %[pair], %[first]\n\t"
                         "smlad %[second], %[y], %[pair], %[second]\n\t"
                         "bne 1b\n\t"
                         "ldr %[x], [%[row]]\n\t"
                         "ldr %[y], [%[other]]\n\t"
                         "smlabt %[first], %[x], %[next], %[first]\n\t"
                         "smlabt %[second], %[y], %[next], %[second]"
                         : [row] "+r"(row), [other] "+r"(other), [taps] "+r"(taps),
                           [halves] "+r"(halves), [first] "+r"(first), [second] "+r"(second),
                           [x] "=&r"(x), [y] "=&r"(y), [pair] "=&r"(pair), [next] "=&r"(next)
                         :
                         : "cc", "memory");
    }
    sums[0] = first, sums[1] = second;
#else
    for (int32_t i = 0; i < halves; i++, taps += 4, row += 2, other += 2) {
        sums[0] += row[0] * taps[0] + row[1] * taps[1];
        sums[1] += other[0] * taps[0] + other[1] * taps[1];
    }
    sums[0] += row[0] * taps[-1], sums[1] += other[0] * taps[-1];
#endif
}

/* One output row of `count` channels. */
KILN_INLINE void cortex_m_depthwise_row(const struct cortex_m_depthwise_int8_shape *s,
                                        int32_t height, int32_t halves, int32_t step, int32_t mode,
                                        int32_t saturates, const int16_t **rows,
                                        const int16_t *records, int32_t count, int8_t *output) {
    const int32_t channels = s->channels, width = s->output_width, rounding = s->rounding;
    const int32_t low = s->clamp_low, high = s->clamp_high;
    if (height == 3 && halves == 1 && step <= 2 && saturates && cortex_m_has_row_3x3(mode)) {
        cortex_m_row_3x3(step, mode, rows,
                         (const struct cortex_m_record_3x3 *)(const void *)records, output,
                         channels);
        return;
    }
    for (int32_t c = 0; c < count; c++) {
        struct cortex_m_channel channel;
        int8_t *to = output + c;
        memcpy(&channel, records + 4 * halves * height, sizeof channel);
        CORTEX_M_NO_UNROLL
        for (int32_t x = 0; x < width; x += 2, to += 2 * channels) {
            int32_t sums[2] = {0, 0};
            for (int32_t ky = 0; ky < height; ky++)
                cortex_m_taps(halves, step, rows[ky] + x * step, records + 4 * halves * ky, sums);
            to[0] = cortex_m_requantize(mode, rounding, channel, sums[0], saturates, low, high);
            if (x + 1 < width)
                to[channels] =
                    cortex_m_requantize(mode, rounding, channel, sums[1], saturates, low, high);
        }
        records += cortex_m_record_elements(height, halves);
        for (int32_t ky = 0; ky < height; ky++)
            rows[ky] += s->pitch;
    }
}

typedef void cortex_m_row(const struct cortex_m_depthwise_int8_shape *s, const int16_t **rows,
                          const int16_t *records, int32_t count, int8_t *output);

/* All output rows of `count` channels of one image. */
KILN_INLINE void cortex_m_depthwise_group(const struct cortex_m_depthwise_int8_shape *s,
                                          const int8_t *image, int32_t count,
                                          const int16_t *records, int16_t *ring, int8_t *output,
                                          cortex_m_row *row_of) {
    const int32_t slot_elements = CORTEX_M_GROUP * s->pitch;
    int32_t next = -s->pad_top, slot = 0; /* next row to spread, and its slot */
    for (int32_t y = 0; y < s->output_height; y++) {
        const int32_t first = y * s->stride_y - s->pad_top;
        for (; next < first + s->slots; next++) {
            if (next >= first) {
                const int8_t *row = next < 0 || next >= s->input_height
                                        ? NULL
                                        : image + next * s->input_width * s->channels;
                if (count == CORTEX_M_GROUP && s->blocks == 1)
                    cortex_m_spread(s, row, ring + slot * slot_elements);
                else
                    cortex_m_spread_any(s, row, count, ring + slot * slot_elements);
            }
            slot = slot + 1 == s->slots ? 0 : slot + 1;
        }
        const int16_t *rows[CORTEX_M_DEPTHWISE_ROWS];
        for (int32_t ky = 0, at = slot; ky < s->kernel_height; ky++) {
            rows[ky] = ring + at * slot_elements;
            at += s->dilation_y;
            at -= at >= s->slots ? s->slots : 0;
        }
        row_of(s, rows, records, count, output + y * s->output_width * s->channels);
    }
}

/* scratch: the records of four channels, then the ring. */
KILN_INLINE void cortex_m_depthwise_int8(const struct cortex_m_depthwise_int8_shape *s,
                                         const int8_t *input, const int8_t *weights,
                                         const int32_t *constants, int32_t mode, int16_t *scratch,
                                         int8_t *output, cortex_m_row *row_of) {
    const int32_t taps = 4 * s->halves * s->kernel_height;
    const int32_t record = cortex_m_record_elements(s->kernel_height, s->halves);
    const int32_t words = cortex_m_words(mode, s->rounding);
    const int32_t pairs = (s->output_width + 1) / 2 * 2;
    for (int32_t n = 0; n < s->batch; n++) {
        for (int32_t c = 0; c < s->channels; c += CORTEX_M_GROUP) {
            const int32_t rest = s->channels - c;
            const int32_t count = rest < CORTEX_M_GROUP ? rest : CORTEX_M_GROUP;
            CORTEX_M_NO_UNROLL
            for (int32_t i = 0; i < count; i++) {
                const struct cortex_m_record_end end = {
                    cortex_m_channel(mode, s->rounding, constants + (c + i) * words,
                                     s->output_zero_point),
                    {s->output_width, 2 * (s->pitch - pairs * s->step), 1 - pairs * s->channels,
                     i + 1 < count ? s->output_width : 0}};
                int16_t *to =
                    cortex_m_widen(weights + (c + i) * taps, taps / 4, scratch + i * record, 4);
                memcpy(to, &end, sizeof end);
            }
            cortex_m_depthwise_group(s, input + c, count, scratch,
                                     scratch + CORTEX_M_GROUP * record, output + c, row_of);
        }
        input += s->input_height * s->input_width * s->channels;
        output += s->output_height * s->output_width * s->channels;
    }
}

/* A kernel for one way to requantize and one kind of window; `height`, `halves` and `step` may be
 * members of s. */
#define CORTEX_M_DEPTHWISE(name, mode, saturates, height, halves, step)                            \
    KILN_SHARED __attribute__((unused)) void name##_row(                                           \
        const struct cortex_m_depthwise_int8_shape *s, const int16_t **rows,                       \
        const int16_t *records, int32_t count, int8_t *output) {                                   \
        cortex_m_depthwise_row(s, height, halves, step, mode, saturates, rows, records, count,     \
                               output);                                                            \
    }                                                                                              \
    KILN_KERNEL void name(const struct cortex_m_depthwise_int8_shape *shape, const int8_t *input,  \
                          const int8_t *weights, const int32_t *constants, int16_t *scratch,       \
                          int8_t *output) {                                                        \
        cortex_m_depthwise_int8(shape, input, weights, constants, mode, scratch, output,           \
                                name##_row);                                                       \
    }

#define CORTEX_M_DEPTHWISES(name, mode, saturates)                                                 \
    CORTEX_M_DEPTHWISE(depthwise_conv2d_int8__cortex_m_3x3_##name, mode, saturates, 3, 1, 1)       \
    CORTEX_M_DEPTHWISE(depthwise_conv2d_int8__cortex_m_3x3s2_##name, mode, saturates, 3, 1, 2)     \
    CORTEX_M_DEPTHWISE(depthwise_conv2d_int8__cortex_m_##name, mode, saturates, s->kernel_height,  \
                       s->halves, s->step)

CORTEX_M_DEPTHWISES(double, CORTEX_M_DOUBLE, 1)
CORTEX_M_DEPTHWISES(double_clamped, CORTEX_M_DOUBLE, 0)
CORTEX_M_DEPTHWISES(fast, CORTEX_M_FAST, 1)
CORTEX_M_DEPTHWISES(fast_clamped, CORTEX_M_FAST, 0)
CORTEX_M_DEPTHWISE(depthwise_conv2d_int8__cortex_m_any, CORTEX_M_ANY, 0, s->kernel_height,
                   s->halves, s->step)

#endif
