/* Sum, product and mean of one type: expects what reduction.h defines before it. */

#define KILN_JOIN_(operation, dtype) operation##_##dtype##__reference
#define KILN_JOIN(operation, dtype) KILN_JOIN_(operation, dtype)
#define KILN_OUTPUT KILN_INPUT

#define KILN_REDUCE KILN_JOIN(sum, KILN_DTYPE)
#define KILN_START 0
#define KILN_STEP(sum, x) KILN_ADD(sum, x)
#include "reference/kernels/reduction_body.h"

#define KILN_REDUCE KILN_JOIN(reduce_prod, KILN_DTYPE)
#define KILN_START 1
#define KILN_STEP(sum, x) KILN_MULTIPLY(sum, x)
#include "reference/kernels/reduction_body.h"

#undef KILN_FINISH
#define KILN_FINISH(sum) KILN_MEAN(sum)
#define KILN_REDUCE KILN_JOIN(mean, KILN_DTYPE)
#define KILN_START 0
#define KILN_STEP(sum, x) KILN_ADD(sum, x)
#include "reference/kernels/reduction_body.h"
#undef KILN_FINISH
#define KILN_FINISH(sum) (sum)

#undef KILN_JOIN_
#undef KILN_JOIN
#undef KILN_OUTPUT
