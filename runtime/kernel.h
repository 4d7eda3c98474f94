/* What every kernel header includes: KILN_KERNEL, integer limits and the scalar requantizers. */
#ifndef KILN_KERNEL_H
#define KILN_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* A kernel body. Inlined into its caller, the constant shape specialises it. */
#define KILN_KERNEL static inline __attribute__((always_inline, unused))
/* The one copy of a body that several shapes share. */
#if defined(__clang__)
#define KILN_SHARED static __attribute__((noinline))
#else
#define KILN_SHARED static __attribute__((noinline, noclone))
#endif
#define KILN_INLINE static inline __attribute__((always_inline, unused))

/* Before a loop whose iterations do not depend on each other, though its arrays may be the same.
 * GCC would unroll a loop of few rounds before it vectorises it, and then not vectorise it. */
#if defined(__clang__)
#define KILN_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define KILN_INDEPENDENT _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#else
#define KILN_INDEPENDENT
#endif

/* How an accumulator becomes an output integer: see "Numerics" in DESIGN.md. */
enum kiln_rounding {
    KILN_ROUND_TFLITE = 0,
    KILN_ROUND_FAST = 1,
    KILN_ROUND_SINGLE = 2,
    KILN_ROUND_WIDE = 3 /* int64 accumulators of 16x8 operators */
};

KILN_INLINE int32_t kiln_clamp(int32_t value, int32_t low, int32_t high) {
    return value < low ? low : value > high ? high : value;
}

/* A limit that is known to be infinite costs nothing. */
KILN_INLINE float kiln_clamp_float(float value, float low, float high) {
    const float raised = low > -__builtin_inff() && value < low ? low : value;
    return high < __builtin_inff() && raised > high ? high : raised;
}

/* floor(a * b / 2^31 + 1/2), saturated. gemmlowp writes it as a division that truncates, with a
 * nudge by the sign of the product; the integers are the same. */
KILN_INLINE int32_t kiln_doubling_high_multiply(int32_t a, int32_t b) {
    if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
    return (int32_t)(((int64_t)a * b + ((int64_t)1 << 30)) >> 31);
}

/* value / 2^exponent, ties away from zero; exponent 0..31. */
KILN_INLINE int32_t kiln_rounding_shift_right(int32_t value, int32_t exponent) {
    int32_t mask = (int32_t)(((int64_t)1 << exponent) - 1);
    int32_t remainder = value & mask;
    int32_t threshold = (mask >> 1) + (value < 0);
    return (value >> exponent) + (remainder > threshold);
}

/* value * multiplier / 2^31 * 2^shift with two roundings, as TFLite's reference kernels. */
KILN_INLINE int32_t kiln_multiply_quantized(int32_t value, int32_t multiplier, int32_t shift) {
    int32_t left = shift > 0 ? shift : 0;
    int32_t right = shift > 0 ? 0 : -shift;
    int32_t shifted = (int32_t)((uint32_t)value << left);
    /* kiln_doubling_high_multiply, which a multiplier cannot saturate: it is not negative. */
    int32_t high = (int32_t)(((int64_t)shifted * multiplier + ((int64_t)1 << 30)) >> 31);
    return kiln_rounding_shift_right(high, right);
}

/* value * multiplier / 2^31 * 2^shift rounded once, half up, as TFLite's fully connected does. */
KILN_INLINE int32_t kiln_multiply_single(int32_t value, int32_t multiplier, int32_t shift) {
    int32_t right = 31 - shift;
    return (int32_t)(((int64_t)value * multiplier + ((int64_t)1 << (right - 1))) >> right);
}

/* The nearest integer to value (ties to even) for |value| < 2^22. */
KILN_INLINE int32_t kiln_round_to_even(float value) {
    union { float f; int32_t i; } bits;
    bits.f = value + 12582912.0f; /* 1.5 * 2^23: the mantissa's last bit is worth 1 */
    return bits.i - 0x4B400000;
}

/* fast: clamp(rint(acc * scale), low, high) + zero_point, low and high less the zero point. */
KILN_INLINE int32_t kiln_requantize_fast(int32_t accumulator, float scale, int32_t low,
                                         int32_t high, int32_t zero_point) {
    float value = (float)accumulator * scale;
    float low_f = (float)(low - zero_point), high_f = (float)(high - zero_point);
    value = value < low_f ? low_f : value > high_f ? high_f : value;
    return kiln_round_to_even(value) + zero_point;
}

/* Output channel `channel` of an accumulator. `constants` is what rounding asks for:
 *
 *     KILN_ROUND_TFLITE   int32 multiplier[channels], int32 shift[channels]
 *     KILN_ROUND_SINGLE   the same
 *     KILN_ROUND_FAST     float scale[channels]
 */
KILN_INLINE int32_t kiln_requantize(int32_t accumulator, const void *constants, int32_t channel,
                                    int32_t channels, int32_t rounding, int32_t low, int32_t high,
                                    int32_t zero_point) {
    if (rounding == KILN_ROUND_FAST)
        return kiln_requantize_fast(accumulator, ((const float *)constants)[channel], low, high,
                                    zero_point);
    const int32_t *multiplier = (const int32_t *)constants;
    const int32_t *shift = multiplier + channels;
    int32_t value =
        rounding == KILN_ROUND_SINGLE
            ? kiln_multiply_single(accumulator, multiplier[channel], shift[channel])
            : kiln_multiply_quantized(accumulator, multiplier[channel], shift[channel]);
    return kiln_clamp(value, low - zero_point, high - zero_point) + zero_point;
}

/* value * multiplier / 2^31 * 2^shift for 48-bit values: the multiplier is cut to 16 bits, one
 * rounding, ties upwards (TFLite's MultiplyByQuantizedMultiplier of int64_t). */
KILN_INLINE int32_t kiln_multiply_quantized_wide(int64_t value, int32_t multiplier, int32_t shift) {
    int64_t reduced = multiplier < 0x7FFF0000 ? (multiplier + (1 << 15)) >> 16 : 0x7FFF;
    int32_t total = 15 - shift;
    return (int32_t)((value * reduced + ((int64_t)1 << (total - 1))) >> total);
}

/* kiln_multiply_single for 48-bit values and shift <= 15: the product has up to 79 bits, so the
 * last 16 of the value are multiplied apart. */
KILN_INLINE int32_t kiln_multiply_single_wide(int64_t value, int32_t multiplier, int32_t shift) {
    int32_t right = 31 - shift;
    int64_t low = (value & 0xFFFF) * multiplier + ((int64_t)1 << (right - 1));
    return (int32_t)(((value >> 16) * multiplier + (low >> 16)) >> (right - 16));
}

/* As kiln_requantize, for accumulators of more than 32 bits; KILN_ROUND_TFLITE takes 32. */
KILN_INLINE int32_t kiln_requantize_wide(int64_t accumulator, const void *constants,
                                         int32_t channel, int32_t channels, int32_t rounding,
                                         int32_t low, int32_t high, int32_t zero_point) {
    const int32_t *multiplier = (const int32_t *)constants;
    if (rounding == KILN_ROUND_TFLITE)
        return kiln_requantize((int32_t)accumulator, constants, channel, channels, rounding, low,
                               high, zero_point);
    if (rounding == KILN_ROUND_FAST) {
        float value = (float)accumulator * ((const float *)constants)[channel];
        return kiln_round_to_even(kiln_clamp_float(value, (float)(low - zero_point),
                                                   (float)(high - zero_point))) +
               zero_point;
    }
    const int32_t shift = multiplier[channels + channel];
    int32_t value = rounding == KILN_ROUND_SINGLE
                        ? kiln_multiply_single_wide(accumulator, multiplier[channel], shift)
                        : kiln_multiply_quantized_wide(accumulator, multiplier[channel], shift);
    return kiln_clamp(value, low - zero_point, high - zero_point) + zero_point;
}

#endif
