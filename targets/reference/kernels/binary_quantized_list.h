/* Every binary operator on one quantized type: expects KILN_SUFFIX and KILN_INPUT. "raw" ones need
 * the same scale and zero point everywhere. */

#define KILN_OUTPUT KILN_INPUT
#define KILN_SHAPE add_integer_shape

#define KILN_OPERATION add
#define KILN_VALUE(a, b) kiln_add_integers(s, (a)-s->a_zero_point, (b)-s->b_zero_point)
#include "reference/kernels/binary_body.h"

#undef KILN_SHAPE
#define KILN_SHAPE mul_integer_shape

#define KILN_OPERATION mul
#define KILN_VALUE(a, b) kiln_mul_integers(s, (a)-s->a_zero_point, (b)-s->b_zero_point)
#include "reference/kernels/binary_body.h"

#undef KILN_SHAPE
#define KILN_SHAPE binary_shape

#define KILN_OPERATION maximum_raw
#define KILN_VALUE(a, b) ((a) > (b) ? (a) : (b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION minimum_raw
#define KILN_VALUE(a, b) ((a) < (b) ? (a) : (b))
#include "reference/kernels/binary_body.h"

#undef KILN_SHAPE
#define KILN_SHAPE by_reals_shape

#define KILN_OPERATION maximum
#define KILN_VALUE(a, b) KILN_INTEGER(kiln_maximum(KILN_REAL_A(a), KILN_REAL_B(b)))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION minimum
#define KILN_VALUE(a, b) KILN_INTEGER(kiln_minimum(KILN_REAL_A(a), KILN_REAL_B(b)))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION squared_difference
#define KILN_VALUE(a, b) KILN_INTEGER(kiln_square(KILN_REAL_A(a) - KILN_REAL_B(b)))
#include "reference/kernels/binary_body.h"

#undef KILN_SHAPE
#define KILN_SHAPE scaled_integer_shape
#define KILN_SCALED_A(a) kiln_scaled_a(s, (a)-s->a_zero_point)
#define KILN_SCALED_B(b) kiln_scaled_b(s, (b)-s->b_zero_point)

#define KILN_OPERATION div
#define KILN_VALUE(a, b) kiln_divide_integers(s, (a)-s->a_zero_point, (b)-s->b_zero_point)
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION prelu
#define KILN_VALUE(a, b) kiln_prelu_integers(s, (a)-s->a_zero_point, (b)-s->b_zero_point)
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION squared_difference_fixed
#define KILN_VALUE(a, b) kiln_squared_difference(s, (a)-s->a_zero_point, (b)-s->b_zero_point)
#include "reference/kernels/binary_body.h"

#undef KILN_OUTPUT
#define KILN_OUTPUT uint8_t

#define KILN_OPERATION equal_scaled
#define KILN_VALUE(a, b) (KILN_SCALED_A(a) == KILN_SCALED_B(b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION not_equal_scaled
#define KILN_VALUE(a, b) (KILN_SCALED_A(a) != KILN_SCALED_B(b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION less_scaled
#define KILN_VALUE(a, b) (KILN_SCALED_A(a) < KILN_SCALED_B(b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION less_equal_scaled
#define KILN_VALUE(a, b) (KILN_SCALED_A(a) <= KILN_SCALED_B(b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION greater_scaled
#define KILN_VALUE(a, b) (KILN_SCALED_A(a) > KILN_SCALED_B(b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION greater_equal_scaled
#define KILN_VALUE(a, b) (KILN_SCALED_A(a) >= KILN_SCALED_B(b))
#include "reference/kernels/binary_body.h"

#undef KILN_SCALED_A
#undef KILN_SCALED_B
#undef KILN_SHAPE
#undef KILN_OUTPUT
