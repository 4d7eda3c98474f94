/* Types of an operator with weights, in float32. Ended by types/end.h. */

#define KILN_NAME(operation) operation##_float32__reference
#define KILN_SHAPE(operation) struct operation##_float32_shape
#define KILN_INPUT float
#define KILN_WEIGHT float
#define KILN_OUTPUT float
#define KILN_SUM float
#define KILN_CONSTANTS
#define KILN_PRODUCT(x, w) ((x) * (w))
#define KILN_DOT(x, w, count) kiln_dot_float32(x, w, count)
#define KILN_DOT_INPUTS(a, b, count) kiln_dot_float32(a, b, count)
#define KILN_OUTSIDE(w, count) 0.0f
#define KILN_FINISH(sum, o) kiln_clamp_float(sum, s->clamp_low, s->clamp_high)
