/* Types of an operator with weights on int32 numbers that stand for themselves; sums wrap. Ended by
 * types/end.h. */

#define KILN_NAME(operation) operation##_int32__reference
#define KILN_SHAPE(operation) struct operation##_float32_shape
#define KILN_INPUT int32_t
#define KILN_WEIGHT int32_t
#define KILN_OUTPUT int32_t
#define KILN_SUM uint32_t
#define KILN_CONSTANTS
#define KILN_PRODUCT(x, w) ((uint32_t)(x) * (uint32_t)(w))
#define KILN_DOT(x, w, count) kiln_dot_int32(x, w, count)
#define KILN_DOT_INPUTS(a, b, count) kiln_dot_int32(a, b, count)
#define KILN_OUTSIDE(w, count) 0u
#define KILN_FINISH(sum, o) (int32_t)(sum)
