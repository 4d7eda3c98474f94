/* Batched matrix product of two activations, either transposed; batch dimensions broadcast. */
#ifndef REFERENCE_BATCH_MATMUL_H
#define REFERENCE_BATCH_MATMUL_H

#include "reference/kernels/walk.h"
#include "reference/kernels/weighted.h"

/* Strides in elements; the last entry of the batch walk is not used (its extent is 1).
 * output_channels is 1: there is one multiplier. */
#define KILN_MATMUL_MEMBERS                                                                        \
    int32_t rank;                                                                                  \
    int32_t extent[KILN_MAX_RANK];                                                                 \
    int32_t a_stride[KILN_MAX_RANK];                                                               \
    int32_t b_stride[KILN_MAX_RANK];                                                               \
    int32_t rows, depth, columns, output_channels;                                                 \
    int32_t a_row, a_depth, b_depth, b_column;

struct batch_matmul_float32_shape {
    KILN_MATMUL_MEMBERS
    KILN_REAL_MEMBERS
};
struct batch_matmul_integer_shape {
    KILN_MATMUL_MEMBERS
    KILN_INTEGER_MEMBERS
};

#include "reference/kernels/types/float32.h"
#include "reference/kernels/batch_matmul_body.h"
#include "reference/kernels/types/end.h"

#include "reference/kernels/types/int32.h"
#include "reference/kernels/batch_matmul_body.h"
#include "reference/kernels/types/end.h"

#include "reference/kernels/types/int8.h"
#include "reference/kernels/batch_matmul_body.h"
#include "reference/kernels/types/end.h"

#include "reference/kernels/types/uint8.h"
#include "reference/kernels/batch_matmul_body.h"
#include "reference/kernels/types/end.h"

#include "reference/kernels/types/int16.h"
#include "reference/kernels/batch_matmul_body.h"
#include "reference/kernels/types/end.h"

#endif
