/* Largest and least of one type, which they end: undefine what reduction.h defines for a type. */

#define KILN_JOIN_(operation, dtype) operation##_##dtype##__reference
#define KILN_JOIN(operation, dtype) KILN_JOIN_(operation, dtype)
#define KILN_OUTPUT KILN_INPUT

#define KILN_REDUCE KILN_JOIN(reduce_max, KILN_DTYPE)
#define KILN_START KILN_LEAST
#define KILN_STEP(sum, x) ((x) > (sum) ? (x) : (sum))
#include "reference/kernels/reduction_body.h"

#define KILN_REDUCE KILN_JOIN(reduce_min, KILN_DTYPE)
#define KILN_START KILN_MOST
#define KILN_STEP(sum, x) ((x) < (sum) ? (x) : (sum))
#include "reference/kernels/reduction_body.h"

#undef KILN_JOIN_
#undef KILN_JOIN
#undef KILN_OUTPUT
#undef KILN_DTYPE
#undef KILN_INPUT
#undef KILN_SUM
#undef KILN_LEAST
#undef KILN_MOST
