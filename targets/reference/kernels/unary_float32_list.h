/* Every unary operator on float32, one after the other. */

#define KILN_OPERATION abs
#define KILN_VALUE(x) kiln_fabsf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION neg
#define KILN_VALUE(x) (-(x))
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION square
#define KILN_VALUE(x) ((x) * (x))
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION sqrt
#define KILN_VALUE(x) kiln_sqrtf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION rsqrt
#define KILN_VALUE(x) (1.0f / kiln_sqrtf(x))
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION reciprocal
#define KILN_VALUE(x) (1.0f / (x))
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION exp
#define KILN_VALUE(x) kiln_expf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION log
#define KILN_VALUE(x) kiln_logf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION sin
#define KILN_VALUE(x) kiln_sinf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION cos
#define KILN_VALUE(x) kiln_cosf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION tan
#define KILN_VALUE(x) kiln_tanf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION floor
#define KILN_VALUE(x) kiln_floorf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION ceil
#define KILN_VALUE(x) kiln_ceilf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION round
#define KILN_VALUE(x) kiln_rintf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION sign
#define KILN_VALUE(x) ((float)((x) > 0.0f) - (float)((x) < 0.0f))
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION erf
#define KILN_VALUE(x) kiln_erff(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION logistic
#define KILN_VALUE(x) kiln_logisticf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION tanh
#define KILN_VALUE(x) kiln_tanhf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION hard_swish
#define KILN_VALUE(x) ((x)*kiln_clamp_float((x) + 3.0f, 0.0f, 6.0f) * (1.0f / 6.0f))
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION hard_sigmoid
#define KILN_VALUE(x) (kiln_clamp_float((x) + 3.0f, 0.0f, 6.0f) * (1.0f / 6.0f))
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION softplus
#define KILN_VALUE(x) kiln_softplus(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION softsign
#define KILN_VALUE(x) ((x) / (1.0f + kiln_fabsf(x)))
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION mish
#define KILN_VALUE(x) ((x)*kiln_tanhf(kiln_softplus(x)))
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION silu
#define KILN_VALUE(x) ((x)*kiln_logisticf(x))
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION relu_0_to_1
#define KILN_VALUE(x) kiln_clamp_float(x, 0.0f, 1.0f)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION clamp
#define KILN_VALUE(x) kiln_clamp_float(x, s->a, s->b)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION leaky_relu
#define KILN_VALUE(x) ((x) < 0.0f ? s->a * (x) : (x))
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION elu
#define KILN_VALUE(x) ((x) < 0.0f ? s->a * (kiln_expf(x) - 1.0f) : (x))
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION gelu
#define KILN_VALUE(x) (0.5f * (x) * (1.0f + kiln_erff((x)*0.70710678f)))
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION gelu_tanh
#define KILN_VALUE(x) kiln_gelu_tanh(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION asin
#define KILN_VALUE(x) kiln_asinf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION acos
#define KILN_VALUE(x) kiln_acosf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION atan
#define KILN_VALUE(x) kiln_atanf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION sinh
#define KILN_VALUE(x) kiln_sinhf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION cosh
#define KILN_VALUE(x) kiln_coshf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION asinh
#define KILN_VALUE(x) kiln_asinhf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION acosh
#define KILN_VALUE(x) kiln_acoshf(x)
#include "reference/kernels/unary_body.h"

#define KILN_OPERATION atanh
#define KILN_VALUE(x) kiln_atanhf(x)
#include "reference/kernels/unary_body.h"
