/* Average and maximum pooling over NHWC images. */
#ifndef REFERENCE_POOLING_H
#define REFERENCE_POOLING_H

#include "reference/kernels/window.h"

/* Channels that are pooled side by side. */
#define KILN_POOL_TILE 16

struct pool_float32_shape {
    KILN_WINDOW_MEMBERS
    int32_t count_include_pad;
    float clamp_low, clamp_high;
};
struct pool_integer_shape {
    KILN_WINDOW_MEMBERS
    int32_t count_include_pad;
    int32_t zero_point; /* of input and output, which agree */
    int32_t clamp_low, clamp_high;
};

/* sum / count to nearest, ties away from zero. */
KILN_INLINE int32_t kiln_rounded_mean(int32_t sum, int32_t count) {
    return (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
}

#define KILN_TYPE float
#define KILN_SUM float
#define KILN_SHAPE struct pool_float32_shape
#define KILN_LOWEST (-__builtin_inff())
#define KILN_CLAMP(value) kiln_clamp_float(value, s->clamp_low, s->clamp_high)

#define KILN_POOL max_pool2d_float32__reference
#define KILN_START KILN_LOWEST
#define KILN_JOIN(sum, x) ((x) > (sum) ? (x) : (sum))
#define KILN_FINISH(sum, inside) (sum)
#include "reference/kernels/pooling_body.h"

#define KILN_POOL average_pool2d_float32__reference
#define KILN_START 0.0f
#define KILN_JOIN(sum, x) ((sum) + (x))
#define KILN_FINISH(sum, inside) ((sum) / (float)(s->count_include_pad ? taps : (inside)))
#include "reference/kernels/pooling_body.h"

#undef KILN_TYPE
#undef KILN_SUM
#undef KILN_SHAPE
#undef KILN_LOWEST
#undef KILN_CLAMP

#define KILN_SUM int32_t
#define KILN_SHAPE struct pool_integer_shape
#define KILN_CLAMP(value) kiln_clamp(value, s->clamp_low, s->clamp_high)

#define KILN_NAME(operation) operation##_int8__reference
#define KILN_TYPE int8_t
#include "reference/kernels/pooling_integer_list.h"
#undef KILN_NAME
#undef KILN_TYPE

#define KILN_NAME(operation) operation##_uint8__reference
#define KILN_TYPE uint8_t
#include "reference/kernels/pooling_integer_list.h"
#undef KILN_NAME
#undef KILN_TYPE

#define KILN_NAME(operation) operation##_int16__reference
#define KILN_TYPE int16_t
#include "reference/kernels/pooling_integer_list.h"
#undef KILN_NAME
#undef KILN_TYPE

#undef KILN_SUM
#undef KILN_SHAPE
#undef KILN_CLAMP

#endif
