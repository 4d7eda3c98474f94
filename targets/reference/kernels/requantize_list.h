/* requantize from one type to every other: expects KILN_NAME(to) and KILN_INPUT; undefines them. */

#define KILN_TO int8
#define KILN_OUTPUT int8_t
#include "reference/kernels/requantize_body.h"

#define KILN_TO uint8
#define KILN_OUTPUT uint8_t
#include "reference/kernels/requantize_body.h"

#define KILN_TO int16
#define KILN_OUTPUT int16_t
#include "reference/kernels/requantize_body.h"

#define KILN_TO int32
#define KILN_OUTPUT int32_t
#include "reference/kernels/requantize_body.h"

#undef KILN_NAME
#undef KILN_INPUT
