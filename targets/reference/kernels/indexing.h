/* Reads and writes at computed indices; those out of range go to the nearest that exists. */
#ifndef REFERENCE_INDEXING_H
#define REFERENCE_INDEXING_H

#include "memory.h"

#include "reference/kernels/walk.h"

/* An index, negative from the end, kept inside: memory stays safe. */
KILN_INLINE int32_t kiln_index(int64_t index, int32_t extent) {
    const int64_t at = index < 0 ? index + extent : index;
    return at < 0 ? 0 : at >= extent ? extent - 1 : (int32_t)at;
}

/* x (batches, extent[0], ..., extent[depth-1], part) at indices (batches, count, depth). */
struct nd_shape {
    int32_t batches, count, depth, part; /* part: elements */
    int32_t extent[KILN_MAX_RANK];
    int32_t batch_elements; /* of x */
};

/* indices and output have extents `extent`; x the strides `stride`, 0 along `axis`. */
struct elements_shape {
    int32_t rank, axis;
    int32_t extent[KILN_MAX_RANK];
    int32_t stride[KILN_MAX_RANK];
    int32_t axis_extent, axis_stride;
    int32_t x_elements;
};

/* x (outer, extent, inner) -> (outer, k, inner) */
struct top_k_shape {
    int32_t outer, extent, inner, k;
};

/* (outer, extent, inner) */
struct cumsum_shape {
    int32_t outer, extent, inner;
    int32_t exclusive, reverse;
};

#define KILN_PASTE3_(a, b, c) a##_##b##_##c
#define KILN_PASTE3(a, b, c) KILN_PASTE3_(a, b, c)
#define KILN_PASTE2_(a, b) a##_##b
#define KILN_PASTE2(a, b) KILN_PASTE2_(a, b)

#define KILN_INDEX int32_t
#define KILN_INDEX_NAME index32__reference
#include "reference/kernels/indexing_list.h"
#undef KILN_INDEX
#undef KILN_INDEX_NAME

#define KILN_INDEX int64_t
#define KILN_INDEX_NAME index64__reference
#include "reference/kernels/indexing_list.h"
#undef KILN_INDEX
#undef KILN_INDEX_NAME

#define KILN_TYPE float
#define KILN_WRAP float
#define KILN_DTYPE float32__reference
#include "reference/kernels/cumsum_body.h"
#define KILN_TYPE int32_t
#define KILN_WRAP uint32_t
#define KILN_DTYPE int32__reference
#include "reference/kernels/cumsum_body.h"
#define KILN_TYPE int64_t
#define KILN_WRAP uint64_t
#define KILN_DTYPE int64__reference
#include "reference/kernels/cumsum_body.h"

#undef KILN_PASTE2
#undef KILN_PASTE2_
#undef KILN_PASTE3
#undef KILN_PASTE3_

#endif
