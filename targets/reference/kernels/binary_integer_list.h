/* The binary operators of wide integers, which wrap; expects KILN_UNSIGNED beside KILN_INPUT. */

#define KILN_OUTPUT KILN_INPUT

#define KILN_OPERATION add
#define KILN_VALUE(a, b) KILN_LIMIT(((KILN_INPUT)((KILN_UNSIGNED)(a) + (KILN_UNSIGNED)(b))))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION sub
#define KILN_VALUE(a, b) KILN_LIMIT(((KILN_INPUT)((KILN_UNSIGNED)(a) - (KILN_UNSIGNED)(b))))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION mul
#define KILN_VALUE(a, b) KILN_LIMIT(((KILN_INPUT)((KILN_UNSIGNED)(a) * (KILN_UNSIGNED)(b))))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION div
#define KILN_VALUE(a, b) KILN_LIMIT(kiln_divide(a, b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION maximum
#define KILN_VALUE(a, b) ((a) > (b) ? (a) : (b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION minimum
#define KILN_VALUE(a, b) ((a) < (b) ? (a) : (b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION pow
#define KILN_VALUE(a, b) kiln_integer_power(a, b)
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION squared_difference
#define KILN_VALUE(a, b)                                                                           \
    ((KILN_INPUT)(((KILN_UNSIGNED)(a) - (KILN_UNSIGNED)(b)) *                                      \
                  ((KILN_UNSIGNED)(a) - (KILN_UNSIGNED)(b))))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION floor_div
#define KILN_VALUE(a, b) kiln_floor_divide(a, b)
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION floor_mod
#define KILN_VALUE(a, b) kiln_floor_modulo(a, b)
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION truncated_mod
#define KILN_VALUE(a, b) kiln_truncated_modulo(a, b)
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION bitwise_and
#define KILN_VALUE(a, b) ((a) & (b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION bitwise_or
#define KILN_VALUE(a, b) ((a) | (b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION bitwise_xor
#define KILN_VALUE(a, b) ((a) ^ (b))
#include "reference/kernels/binary_body.h"

/* Counts are taken modulo the bits of the type: C leaves others undefined. */
#define KILN_COUNT(b) ((b) & (int32_t)(8 * sizeof(KILN_INPUT) - 1))

#define KILN_OPERATION shift_left
#define KILN_VALUE(a, b) ((KILN_INPUT)((KILN_UNSIGNED)(a) << KILN_COUNT(b)))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION shift_right
#define KILN_VALUE(a, b) ((a) >> KILN_COUNT(b))
#include "reference/kernels/binary_body.h"

#undef KILN_COUNT
#undef KILN_OUTPUT
