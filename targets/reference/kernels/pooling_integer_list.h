/* Both poolings on one type of integers: expects KILN_NAME and KILN_TYPE beside what the body does.
 */

#define KILN_POOL KILN_NAME(max_pool2d)
#define KILN_START INT32_MIN
#define KILN_JOIN(sum, x) ((x) > (sum) ? (x) : (sum))
#define KILN_FINISH(sum, inside) (sum)
#include "reference/kernels/pooling_body.h"

/* Taps outside count as real zeros where padding is included. */
#define KILN_POOL KILN_NAME(average_pool2d)
#define KILN_START 0
#define KILN_JOIN(sum, x) ((sum) + (x))
#define KILN_FINISH(sum, inside)                                                                   \
    (s->count_include_pad ? kiln_rounded_mean((sum) + (taps - (inside)) * s->zero_point, taps)     \
                          : kiln_rounded_mean(sum, inside))
#include "reference/kernels/pooling_body.h"
