/* Reductions over any axes: sum, mean, product, extremes, any and all; index of an extreme. */
#ifndef REFERENCE_REDUCTION_H
#define REFERENCE_REDUCTION_H

#include "reference/kernels/walk.h"

/* Outputs that are reduced side by side. */
#define KILN_REDUCE_TILE 16

/* The axes that stay and those that go, each with the strides of the input. */
#define KILN_REDUCE_MEMBERS                                                                        \
    int32_t rank; /* at least 1 */                                                                 \
    int32_t extent[KILN_MAX_RANK];                                                                 \
    int32_t stride[KILN_MAX_RANK];                                                                 \
    int32_t reduced_rank; /* at least 1 */                                                         \
    int32_t reduced_extent[KILN_MAX_RANK];                                                         \
    int32_t reduced_stride[KILN_MAX_RANK];                                                         \
    int32_t reduced_count; /* elements per output */

struct reduce_shape {
    KILN_REDUCE_MEMBERS
};
/* offset: what the zero point adds to each sum. */
struct mean_integer_shape {
    KILN_REDUCE_MEMBERS
    int32_t offset, multiplier, shift, output_zero_point, low, high;
};

#define KILN_SHAPE struct reduce_shape
#define KILN_FINISH(sum) (sum)

#define KILN_DTYPE float32
#define KILN_INPUT float
#define KILN_SUM float
#define KILN_LEAST (-__builtin_inff())
#define KILN_MOST __builtin_inff()
#define KILN_ADD(sum, x) ((sum) + (x))
#define KILN_MULTIPLY(sum, x) ((sum) * (x))
#define KILN_MEAN(sum) ((sum) / (float)s->reduced_count)
#include "reference/kernels/reduction_arithmetic_list.h"
#include "reference/kernels/reduction_extremes_list.h"
#undef KILN_ADD
#undef KILN_MULTIPLY
#undef KILN_MEAN

/* Wide integers wrap; their mean rounds towards zero. */
#define KILN_ADD(sum, x) ((KILN_SUM)((uint64_t)(sum) + (uint64_t)(x)))
#define KILN_MULTIPLY(sum, x) ((KILN_SUM)((uint64_t)(sum) * (uint64_t)(x)))
#define KILN_MEAN(sum) ((sum) / s->reduced_count)

#define KILN_DTYPE int32
#define KILN_INPUT int32_t
#define KILN_SUM int64_t
#define KILN_LEAST INT32_MIN
#define KILN_MOST INT32_MAX
#include "reference/kernels/reduction_arithmetic_list.h"
#include "reference/kernels/reduction_extremes_list.h"

#define KILN_DTYPE int64
#define KILN_INPUT int64_t
#define KILN_SUM int64_t
#define KILN_LEAST INT64_MIN
#define KILN_MOST INT64_MAX
#include "reference/kernels/reduction_arithmetic_list.h"
#include "reference/kernels/reduction_extremes_list.h"

#undef KILN_ADD
#undef KILN_MULTIPLY
#undef KILN_MEAN

#define KILN_DTYPE int8
#define KILN_INPUT int8_t
#define KILN_SUM int32_t
#define KILN_LEAST INT8_MIN
#define KILN_MOST INT8_MAX
#include "reference/kernels/reduction_extremes_list.h"

#define KILN_DTYPE uint8
#define KILN_INPUT uint8_t
#define KILN_SUM int32_t
#define KILN_LEAST 0
#define KILN_MOST UINT8_MAX
#include "reference/kernels/reduction_extremes_list.h"

#define KILN_DTYPE int16
#define KILN_INPUT int16_t
#define KILN_SUM int32_t
#define KILN_LEAST INT16_MIN
#define KILN_MOST INT16_MAX
#include "reference/kernels/reduction_extremes_list.h"

#define KILN_INPUT uint8_t
#define KILN_OUTPUT uint8_t
#define KILN_SUM uint8_t

#define KILN_REDUCE reduce_any_bool__reference
#define KILN_START 0
#define KILN_STEP(sum, x) ((sum) | (x))
#include "reference/kernels/reduction_body.h"

#define KILN_REDUCE reduce_all_bool__reference
#define KILN_START 1
#define KILN_STEP(sum, x) ((sum) & (x))
#include "reference/kernels/reduction_body.h"

#undef KILN_INPUT
#undef KILN_OUTPUT
#undef KILN_SUM
#undef KILN_SHAPE
#undef KILN_FINISH

/* Quantized sum or mean: the sum less its zero points, rescaled. */
#define KILN_SHAPE struct mean_integer_shape
#define KILN_SUM int32_t
#define KILN_FINISH(sum)                                                                           \
    kiln_clamp(kiln_multiply_quantized((sum) + s->offset, s->multiplier, s->shift) +               \
                   s->output_zero_point,                                                           \
               s->low, s->high)

#define KILN_REDUCE mean_int8__reference
#define KILN_INPUT int8_t
#define KILN_OUTPUT int8_t
#define KILN_START 0
#define KILN_STEP(sum, x) ((sum) + (x))
#include "reference/kernels/reduction_body.h"
#undef KILN_INPUT
#undef KILN_OUTPUT

#define KILN_REDUCE mean_uint8__reference
#define KILN_INPUT uint8_t
#define KILN_OUTPUT uint8_t
#define KILN_START 0
#define KILN_STEP(sum, x) ((sum) + (x))
#include "reference/kernels/reduction_body.h"
#undef KILN_INPUT
#undef KILN_OUTPUT

#define KILN_REDUCE mean_int16__reference
#define KILN_INPUT int16_t
#define KILN_OUTPUT int16_t
#define KILN_START 0
#define KILN_STEP(sum, x) ((sum) + (x))
#include "reference/kernels/reduction_body.h"
#undef KILN_INPUT
#undef KILN_OUTPUT

#undef KILN_SHAPE
#undef KILN_SUM
#undef KILN_FINISH

#endif
