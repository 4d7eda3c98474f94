/* The unary operators on wide integers, which wrap; expects KILN_TYPE and KILN_UNSIGNED. */

#define KILN_OPERATION abs
#define KILN_VALUE(x) ((x) < 0 ? (KILN_TYPE)(0 - (KILN_UNSIGNED)(x)) : (x))
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION neg
#define KILN_VALUE(x) ((KILN_TYPE)(0 - (KILN_UNSIGNED)(x)))
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION square
#define KILN_VALUE(x) ((KILN_TYPE)((KILN_UNSIGNED)(x) * (KILN_UNSIGNED)(x)))
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION sign
#define KILN_VALUE(x) ((x) > 0) - ((x) < 0)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION clamp
#define KILN_VALUE(x) ((x) < s->a ? (KILN_TYPE)s->a : (x) > s->b ? (KILN_TYPE)s->b : (x))
#include "reference/kernels/unary_body.h"
