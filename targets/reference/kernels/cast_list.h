/* cast from one type to every other: expects KILN_NAME(to), KILN_INPUT, KILN_LOAD(x),
 * KILN_TO_INTEGER(x) and KILN_TO_INT64(x); undefines the first two. */

#define KILN_TO int8
#define KILN_OUTPUT int8_t
#define KILN_VALUE(x) KILN_TO_INTEGER(x)
#include "reference/kernels/cast_body.h"

#define KILN_TO uint8
#define KILN_OUTPUT uint8_t
#define KILN_VALUE(x) KILN_TO_INTEGER(x)
#include "reference/kernels/cast_body.h"

#define KILN_TO int16
#define KILN_OUTPUT int16_t
#define KILN_VALUE(x) KILN_TO_INTEGER(x)
#include "reference/kernels/cast_body.h"

#define KILN_TO int32
#define KILN_OUTPUT int32_t
#define KILN_VALUE(x) KILN_TO_INTEGER(x)
#include "reference/kernels/cast_body.h"

#define KILN_TO int64
#define KILN_OUTPUT int64_t
#define KILN_VALUE(x) KILN_TO_INT64(x)
#include "reference/kernels/cast_body.h"

#define KILN_TO bool
#define KILN_OUTPUT uint8_t
#define KILN_VALUE(x) ((x) != 0)
#include "reference/kernels/cast_body.h"

#define KILN_TO float32
#define KILN_OUTPUT float
#define KILN_VALUE(x) (x)
#include "reference/kernels/cast_body.h"

#define KILN_TO float16
#define KILN_OUTPUT uint16_t
#define KILN_VALUE(x) kiln_half_of_float((float)(x))
#include "reference/kernels/cast_body.h"

#undef KILN_NAME
#undef KILN_INPUT
