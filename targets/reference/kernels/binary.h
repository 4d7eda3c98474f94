/* Binary elementwise operators with broadcasting, on floats, wide integers and bool; select. */
#ifndef REFERENCE_BINARY_H
#define REFERENCE_BINARY_H

#include "kiln_math.h"
#include "reference/kernels/walk.h"

/* Output extents, and the strides that read each operand for it; 0 where it is repeated. */
#define KILN_BROADCAST_MEMBERS                                                                     \
    int32_t rank; /* at least 1 */                                                                 \
    int32_t extent[KILN_MAX_RANK];                                                                 \
    int32_t a_stride[KILN_MAX_RANK];                                                               \
    int32_t b_stride[KILN_MAX_RANK];

struct binary_shape {
    KILN_BROADCAST_MEMBERS
};
struct binary_float32_shape {
    KILN_BROADCAST_MEMBERS
    float clamp_low, clamp_high;
};
struct binary_integer_shape {
    KILN_BROADCAST_MEMBERS
    int64_t clamp_low, clamp_high;
};

/* a - trunc(a / b) * b, exactly; NaN where b is 0 or a is infinite. */
KILN_INLINE float kiln_fmodf(float a, float b) {
    const float infinity = __builtin_inff(), divisor = kiln_fabsf(b);
    float rest = kiln_fabsf(a), part = divisor;
    if (!(rest < infinity) || !(divisor > 0.0f))
        return kiln_float_of_bits(0x7FC00000u);
    while (part <= rest * 0.5f)
        part *= 2.0f;
    for (; part >= divisor && rest >= divisor; part *= 0.5f)
        if (rest >= part)
            rest -= part;
    return kiln_copysignf(rest, a);
}

/* The remainder that has the sign of b. */
KILN_INLINE float kiln_floor_modf(float a, float b) {
    const float remainder = kiln_fmodf(a, b);
    return remainder != 0.0f && (b < 0.0f) != (remainder < 0.0f) ? remainder + b : remainder;
}

/* Integers divide as C does, but never trap: by 0 is 0, and the least by -1 wraps. */
KILN_INLINE int64_t kiln_divide(int64_t a, int64_t b) {
    if (b == 0)
        return 0;
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

KILN_INLINE int64_t kiln_floor_divide(int64_t a, int64_t b) {
    if (b == 0 || b == -1)
        return kiln_divide(a, b);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

KILN_INLINE int64_t kiln_floor_modulo(int64_t a, int64_t b) {
    if (b == 0 || b == -1)
        return 0;
    const int64_t remainder = a % b;
    return remainder != 0 && (b < 0) != (remainder < 0) ? remainder + b : remainder;
}

KILN_INLINE int64_t kiln_truncated_modulo(int64_t a, int64_t b) {
    return b == 0 || b == -1 ? 0 : a % b;
}

/* base^exponent, wrapped; a negative exponent gives 0 unless the base is 1 or -1. */
KILN_INLINE int64_t kiln_integer_power(int64_t base, int64_t exponent) {
    if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    uint64_t result = 1, factor = (uint64_t)base;
    for (; exponent > 0; exponent /= 2, factor *= factor)
        if (exponent % 2)
            result *= factor;
    return (int64_t)result;
}

#define KILN_SHAPE binary_float32_shape
#define KILN_SUFFIX float32__reference
#define KILN_INPUT float
#define KILN_OUTPUT float
#include "reference/kernels/binary_float32_list.h"
#undef KILN_SHAPE
#undef KILN_SUFFIX
#undef KILN_INPUT
#undef KILN_OUTPUT

#define KILN_SHAPE binary_integer_shape
#define KILN_LIMIT(x)                                                                              \
    ((x) < s->clamp_low ? s->clamp_low : (x) > s->clamp_high ? s->clamp_high : (x))

#define KILN_SUFFIX int32__reference
#define KILN_INPUT int32_t
#define KILN_UNSIGNED uint32_t
#include "reference/kernels/binary_integer_list.h"
#undef KILN_SUFFIX
#undef KILN_INPUT
#undef KILN_UNSIGNED

#define KILN_SUFFIX int64__reference
#define KILN_INPUT int64_t
#define KILN_UNSIGNED uint64_t
#include "reference/kernels/binary_integer_list.h"
#undef KILN_SUFFIX
#undef KILN_INPUT
#undef KILN_UNSIGNED

#undef KILN_LIMIT
#undef KILN_SHAPE

#define KILN_SHAPE binary_shape
#define KILN_OUTPUT uint8_t

#define KILN_SUFFIX float32__reference
#define KILN_INPUT float
#include "reference/kernels/compare_list.h"
#undef KILN_SUFFIX
#undef KILN_INPUT

#define KILN_SUFFIX int32__reference
#define KILN_INPUT int32_t
#include "reference/kernels/compare_list.h"
#undef KILN_SUFFIX
#undef KILN_INPUT

#define KILN_SUFFIX int64__reference
#define KILN_INPUT int64_t
#include "reference/kernels/compare_list.h"
#undef KILN_SUFFIX
#undef KILN_INPUT

#define KILN_SUFFIX int8__reference
#define KILN_INPUT int8_t
#include "reference/kernels/compare_list.h"
#undef KILN_SUFFIX
#undef KILN_INPUT

#define KILN_SUFFIX uint8__reference
#define KILN_INPUT uint8_t
#include "reference/kernels/compare_list.h"
#undef KILN_SUFFIX
#undef KILN_INPUT

#define KILN_SUFFIX int16__reference
#define KILN_INPUT int16_t
#include "reference/kernels/compare_list.h"
#undef KILN_SUFFIX
#undef KILN_INPUT

#define KILN_SUFFIX bool__reference
#define KILN_INPUT uint8_t
#include "reference/kernels/compare_list.h"

#define KILN_OPERATION logical_and
#define KILN_VALUE(a, b) ((a) & (b))
#include "reference/kernels/binary_body.h"
#define KILN_OPERATION logical_or
#define KILN_VALUE(a, b) ((a) | (b))
#include "reference/kernels/binary_body.h"
#define KILN_OPERATION logical_xor
#define KILN_VALUE(a, b) ((a) ^ (b))
#include "reference/kernels/binary_body.h"

#undef KILN_SUFFIX
#undef KILN_INPUT
#undef KILN_OUTPUT
#undef KILN_SHAPE

#endif
