/* Everything that takes or gives indices of one type, KILN_INDEX named KILN_INDEX_NAME. */

/* Elements from the start of x of the part at one tuple of indices. */
KILN_INLINE int32_t KILN_PASTE2(kiln_nd_offset, KILN_INDEX_NAME)(const struct nd_shape *s,
                                                                 const KILN_INDEX *indices) {
    int32_t offset = 0;
    for (int32_t i = 0; i < s->depth; i++)
        offset = offset * s->extent[i] + kiln_index(indices[i], s->extent[i]);
    return offset * s->part;
}

#define KILN_SUFFIX bytes1
#define KILN_TYPE uint8_t
#include "reference/kernels/indexing_body.h"
#define KILN_SUFFIX bytes2
#define KILN_TYPE uint16_t
#include "reference/kernels/indexing_body.h"
#define KILN_SUFFIX bytes4
#define KILN_TYPE uint32_t
#include "reference/kernels/indexing_body.h"
#define KILN_SUFFIX bytes8
#define KILN_TYPE uint64_t
#include "reference/kernels/indexing_body.h"

#define KILN_SUFFIX float32
#define KILN_TYPE float
#define KILN_WRAP float
#include "reference/kernels/indexing_ordered.h"
#define KILN_SUFFIX int32
#define KILN_TYPE int32_t
#define KILN_WRAP uint32_t
#include "reference/kernels/indexing_ordered.h"
#define KILN_SUFFIX int64
#define KILN_TYPE int64_t
#define KILN_WRAP uint64_t
#include "reference/kernels/indexing_ordered.h"
#define KILN_SUFFIX int8
#define KILN_TYPE int8_t
#define KILN_WRAP uint8_t
#include "reference/kernels/indexing_ordered.h"
#define KILN_SUFFIX uint8
#define KILN_TYPE uint8_t
#define KILN_WRAP uint8_t
#include "reference/kernels/indexing_ordered.h"
#define KILN_SUFFIX int16
#define KILN_TYPE int16_t
#define KILN_WRAP uint16_t
#include "reference/kernels/indexing_ordered.h"
