/* The comparisons of one type; the output is bool, one byte of 0 or 1. */

#define KILN_OPERATION equal
#define KILN_VALUE(a, b) ((a) == (b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION not_equal
#define KILN_VALUE(a, b) ((a) != (b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION less
#define KILN_VALUE(a, b) ((a) < (b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION less_equal
#define KILN_VALUE(a, b) ((a) <= (b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION greater
#define KILN_VALUE(a, b) ((a) > (b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION greater_equal
#define KILN_VALUE(a, b) ((a) >= (b))
#include "reference/kernels/binary_body.h"
