/* Unary elementwise operators: float32 and wide integers by formula, 8-bit ones by a table. */
#ifndef REFERENCE_UNARY_H
#define REFERENCE_UNARY_H

#include "kernel.h"
#include "kiln_math.h"
#include "reference/kernels/inverse.h"

/* `a` and `b` are the operation's parameters, where it has any. */
struct unary_float32_shape {
    int32_t count;
    float a, b;
};
struct unary_integer_shape {
    int32_t count;
    int64_t a, b;
};

KILN_INLINE float kiln_softplus(float x) {
    return (x > 0.0f ? x : 0.0f) + kiln_logf(1.0f + kiln_expf(-kiln_fabsf(x)));
}

KILN_INLINE float kiln_gelu_tanh(float x) {
    return 0.5f * x * (1.0f + kiln_tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

#define KILN_TYPE float
#define KILN_SHAPE unary_float32_shape
#define KILN_SUFFIX float32__reference
#include "reference/kernels/unary_float32_list.h"
#undef KILN_TYPE
#undef KILN_SHAPE
#undef KILN_SUFFIX

#define KILN_SHAPE unary_integer_shape

#define KILN_TYPE int32_t
#define KILN_UNSIGNED uint32_t
#define KILN_SUFFIX int32__reference
#include "reference/kernels/unary_integer_list.h"
#undef KILN_TYPE
#undef KILN_UNSIGNED
#undef KILN_SUFFIX

#define KILN_TYPE int64_t
#define KILN_UNSIGNED uint64_t
#define KILN_SUFFIX int64__reference
#include "reference/kernels/unary_integer_list.h"
#undef KILN_TYPE
#undef KILN_UNSIGNED
#undef KILN_SUFFIX

#undef KILN_SHAPE

struct count_shape {
    int32_t count;
};

KILN_KERNEL void logical_not_bool__reference(const struct count_shape *s, const uint8_t *input,
                                             uint8_t *output) {
    KILN_INDEPENDENT
    for (int32_t i = 0; i < s->count; i++)
        output[i] = !input[i];
}

/* Any function of two bytes: table[i] is the output for the input whose bits are i. */
KILN_KERNEL void lookup_int16__reference(const struct count_shape *s, const uint16_t *input,
                                         const uint16_t *table, uint16_t *output) {
    KILN_INDEPENDENT
    for (int32_t i = 0; i < s->count; i++)
        output[i] = table[input[i]];
}

/* The same of one byte. */
KILN_KERNEL void lookup_int8__reference(const struct count_shape *s, const uint8_t *input,
                                        const uint8_t *table, uint8_t *output) {
    KILN_INDEPENDENT
    for (int32_t i = 0; i < s->count; i++)
        output[i] = table[input[i]];
}

#endif
