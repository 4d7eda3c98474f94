/* Walks over strided arrays of any rank: the last axis is the caller's inner loop. */
#ifndef REFERENCE_WALK_H
#define REFERENCE_WALK_H

#include "kernel.h"

#define KILN_MAX_RANK 8

/* The next index over extent[0 .. rank-2], last axis fastest; 0 when it has come round. */
KILN_INLINE int kiln_next_row(int32_t rank, const int32_t *extent, int32_t *index) {
    for (int32_t axis = rank - 2; axis >= 0; axis--) {
        if (++index[axis] < extent[axis])
            return 1;
        index[axis] = 0;
    }
    return 0;
}

/* Element offset of the row at `index`, in an array with these strides. */
KILN_INLINE int32_t kiln_row_offset(int32_t rank, const int32_t *stride, const int32_t *index) {
    int32_t offset = 0;
    for (int32_t axis = 0; axis < rank - 1; axis++)
        offset += index[axis] * stride[axis];
    return offset;
}

#endif
