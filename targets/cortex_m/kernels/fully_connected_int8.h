/* int8 fully connected layers of one row, which is read as it lies. */
#ifndef CORTEX_M_FULLY_CONNECTED_INT8_H
#define CORTEX_M_FULLY_CONNECTED_INT8_H

#include "cortex_m/kernels/products.h"

struct cortex_m_fully_connected_int8_shape {
    int32_t depth; /* a multiple of 8 */
    int32_t output_channels;
    CORTEX_M_OUTPUT_MEMBERS
};

KILN_INLINE void cortex_m_fully_connected_int8(const struct cortex_m_fully_connected_int8_shape *s,
                                               int32_t mode, int32_t saturates, const int8_t *input,
                                               const int8_t *weights, const int32_t *constants,
                                               int8_t *output) {
    const int32_t channels = s->output_channels, zero_point = s->output_zero_point;
    const int32_t words = cortex_m_words(mode, 0), bytes = 2 * s->depth;
    for (int32_t c = 0; c < channels; c += 4) {
        struct cortex_m_sums sums[2];
        weights = cortex_m_dot_bytes_1x4(input, weights, bytes, sums);
        if (saturates && c + 3 < channels) {
            constants = cortex_m_store_1x2(mode, sums[0], constants, zero_point, output + c);
            constants = cortex_m_store_1x2(mode, sums[1], constants, zero_point, output + c + 2);
            continue;
        }
        for (int32_t i = 0; i < 4 && c + i < channels; i++, constants += words) {
            const int32_t sum = i & 1 ? cortex_m_second(sums[i >> 1]) : sums[i >> 1].first;
            output[c + i] =
                cortex_m_requantize(mode, 0, cortex_m_channel(mode, 0, constants, zero_point), sum,
                                    saturates, s->clamp_low, s->clamp_high);
        }
    }
}

/* Not inlined, so that layers share it. */
#define CORTEX_M_FULLY_CONNECTED(name, mode, saturates)                                            \
    KILN_SHARED __attribute__((unused)) void name##_row(                                           \
        const struct cortex_m_fully_connected_int8_shape *s, const int8_t *input,                  \
        const int8_t *weights, const int32_t *constants, int8_t *output) {                         \
        cortex_m_fully_connected_int8(s, mode, saturates, input, weights, constants, output);      \
    }                                                                                              \
    KILN_KERNEL void name(const struct cortex_m_fully_connected_int8_shape *shape,                 \
                          const int8_t *input, const int8_t *weights, const int32_t *constants,    \
                          int8_t *output) {                                                        \
        name##_row(shape, input, weights, constants, output);                                      \
    }

CORTEX_M_FULLY_CONNECTED(fully_connected_int8__cortex_m_single, CORTEX_M_SINGLE, 1)
CORTEX_M_FULLY_CONNECTED(fully_connected_int8__cortex_m_single_clamped, CORTEX_M_SINGLE, 0)
CORTEX_M_FULLY_CONNECTED(fully_connected_int8__cortex_m_fast, CORTEX_M_FAST, 1)
CORTEX_M_FULLY_CONNECTED(fully_connected_int8__cortex_m_fast_clamped, CORTEX_M_FAST, 0)

#endif
