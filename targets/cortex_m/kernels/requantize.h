/* From sums to int8 outputs, with the constants of a channel laid out for the fewest instructions.
 */
#ifndef CORTEX_M_REQUANTIZE_H
#define CORTEX_M_REQUANTIZE_H

#include "cortex_m/kernels/simd.h"

/* How a kernel requantizes; the first three know that every scale is below 1/2. `shift` is to the
 * right, 1 to 22.
 *
 *     CORTEX_M_DOUBLE   KILN_ROUND_TFLITE   int32 {2 * bias, multiplier, shift}[channels]
 *     CORTEX_M_SINGLE   KILN_ROUND_SINGLE   the same
 *     CORTEX_M_FAST     KILN_ROUND_FAST     {int32 2 * bias, float scale / 2}[channels]
 *     CORTEX_M_ANY      shape->rounding     int32 {2 * bias, multiplier, shift to the left or,
 * below 0, to the right}[channels], or as CORTEX_M_FAST
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

struct cortex_m_channel {
    int32_t bias, multiplier, shift, offset;
    float scale;
};

KILN_INLINE struct cortex_m_channel cortex_m_channel(int32_t mode, int32_t rounding,
                                                     const int32_t *constants, int32_t zero_point) {
    struct cortex_m_channel c = {constants[0], constants[1], 0, 0, 0.0f};
    if (cortex_m_words(mode, rounding) == 2) {
        memcpy(&c.scale, constants + 1, 4);
    } else {
        c.shift = constants[2];
        if (mode != CORTEX_M_ANY) /* half a unit, and the zero point */
            c.offset = (int32_t)((uint32_t)(2 * zero_point + 1) << (c.shift - 1));
    }
    return c;
}

/* An output from a doubled sum, not yet clamped. */
KILN_INLINE int32_t cortex_m_requantize(int32_t mode, int32_t rounding, struct cortex_m_channel c,
                                        int32_t doubled, int32_t zero_point) {
    doubled += c.bias;
    if (cortex_m_words(mode, rounding) == 2)
        return cortex_m_round((float)doubled * c.scale) + zero_point;
    if (mode == CORTEX_M_SINGLE)
        return cortex_m_high_product_add(doubled, c.multiplier, c.offset) >> c.shift;
    if (mode == CORTEX_M_DOUBLE) {
        /* One less where negative: a tie is then rounded away from zero. */
        const int32_t high = cortex_m_high_product(doubled, c.multiplier);
        return (high + (high >> 31) + c.offset) >> c.shift;
    }
    return (rounding == KILN_ROUND_SINGLE
                ? kiln_multiply_single(doubled >> 1, c.multiplier, c.shift)
                : kiln_multiply_quantized(doubled >> 1, c.multiplier, c.shift)) +
           zero_point;
}

/* `saturates`: the clamp is the range of int8. */
KILN_INLINE int8_t cortex_m_clamp(int32_t value, int32_t saturates, int32_t low, int32_t high) {
    return (int8_t)(saturates ? cortex_m_saturate(value) : kiln_clamp(value, low, high));
}

#endif
