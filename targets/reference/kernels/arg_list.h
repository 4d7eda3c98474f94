/* Both directions and both types of index for one type: expects KILN_NAME and KILN_INPUT. */

#define KILN_INDEX int32_t
#define KILN_ARG KILN_NAME(arg_max, int32)
#define KILN_BETTER(x, best) ((x) > (best))
#include "reference/kernels/arg_body.h"
#define KILN_ARG KILN_NAME(arg_min, int32)
#define KILN_BETTER(x, best) ((x) < (best))
#include "reference/kernels/arg_body.h"
#undef KILN_INDEX

#define KILN_INDEX int64_t
#define KILN_ARG KILN_NAME(arg_max, int64)
#define KILN_BETTER(x, best) ((x) > (best))
#include "reference/kernels/arg_body.h"
#define KILN_ARG KILN_NAME(arg_min, int64)
#define KILN_BETTER(x, best) ((x) < (best))
#include "reference/kernels/arg_body.h"
#undef KILN_INDEX

#undef KILN_NAME
#undef KILN_INPUT
