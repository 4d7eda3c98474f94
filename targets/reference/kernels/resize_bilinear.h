/* Bilinear resizing by tables of positions and weights, which the compiler makes. */
#ifndef REFERENCE_RESIZE_BILINEAR_H
#define REFERENCE_RESIZE_BILINEAR_H

#include "kernel.h"
#include "kiln_math.h"

/* Per output row (column): lower[], then upper[], the input rows that it lies between; rest[], then
 * weight[], their weights. Those add up to 1, or to 1024 where they are integers. */
struct resize_bilinear_shape {
    int32_t batch, input_height, input_width, channels, output_height, output_width;
};

/* sum / 2^20, ties away from zero. */
KILN_INLINE int32_t kiln_unblend(int64_t sum) {
    return (int32_t)((sum > 0 ? sum + (1 << 19) : sum - (1 << 19)) / (1 << 20));
}

#define KILN_RESIZE resize_bilinear_float32__reference
#define KILN_TYPE float
#define KILN_WEIGHT float
#define KILN_SUM float
#define KILN_FINISH(sum) (sum)
#include "reference/kernels/resize_bilinear_body.h"

#define KILN_RESIZE resize_bilinear_uint8__reference
#define KILN_TYPE uint8_t
#define KILN_WEIGHT float
#define KILN_SUM float
#define KILN_FINISH(sum) kiln_floorf((sum) + 0.5f)
#include "reference/kernels/resize_bilinear_body.h"

#define KILN_RESIZE resize_bilinear_int8__reference
#define KILN_TYPE int8_t
#define KILN_WEIGHT int32_t
#define KILN_SUM int32_t
#define KILN_FINISH(sum) kiln_unblend(sum)
#include "reference/kernels/resize_bilinear_body.h"

#define KILN_RESIZE resize_bilinear_int16__reference
#define KILN_TYPE int16_t
#define KILN_WEIGHT int32_t
#define KILN_SUM int64_t
#define KILN_FINISH(sum) kiln_unblend(sum)
#include "reference/kernels/resize_bilinear_body.h"

#endif
