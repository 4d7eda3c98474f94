/* select: one of two operands by a condition, all broadcast; by element size. */
#ifndef REFERENCE_SELECT_H
#define REFERENCE_SELECT_H

#include "reference/kernels/walk.h"

struct select_shape {
    int32_t rank; /* at least 1 */
    int32_t extent[KILN_MAX_RANK];
    int32_t condition_stride[KILN_MAX_RANK];
    int32_t a_stride[KILN_MAX_RANK];
    int32_t b_stride[KILN_MAX_RANK];
};

#define KILN_NAME select_bytes1__reference
#define KILN_ELEMENT uint8_t
#include "reference/kernels/select_body.h"

#define KILN_NAME select_bytes2__reference
#define KILN_ELEMENT uint16_t
#include "reference/kernels/select_body.h"

#define KILN_NAME select_bytes4__reference
#define KILN_ELEMENT uint32_t
#include "reference/kernels/select_body.h"

#define KILN_NAME select_bytes8__reference
#define KILN_ELEMENT uint64_t
#include "reference/kernels/select_body.h"

#endif
