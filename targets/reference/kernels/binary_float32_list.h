/* Every binary operator from float32 to float32. */

#define KILN_OPERATION add
#define KILN_VALUE(a, b) kiln_clamp_float((a) + (b), s->clamp_low, s->clamp_high)
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION sub
#define KILN_VALUE(a, b) kiln_clamp_float((a) - (b), s->clamp_low, s->clamp_high)
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION mul
#define KILN_VALUE(a, b) kiln_clamp_float((a) * (b), s->clamp_low, s->clamp_high)
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION div
#define KILN_VALUE(a, b) kiln_clamp_float((a) / (b), s->clamp_low, s->clamp_high)
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION maximum
#define KILN_VALUE(a, b) ((a) > (b) ? (a) : (b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION minimum
#define KILN_VALUE(a, b) ((a) < (b) ? (a) : (b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION pow
#define KILN_VALUE(a, b) kiln_powf(a, b)
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION squared_difference
#define KILN_VALUE(a, b) (((a) - (b)) * ((a) - (b)))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION floor_div
#define KILN_VALUE(a, b) kiln_floorf((a) / (b))
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION floor_mod
#define KILN_VALUE(a, b) kiln_floor_modf(a, b)
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION truncated_mod
#define KILN_VALUE(a, b) kiln_fmodf(a, b)
#include "reference/kernels/binary_body.h"

#define KILN_OPERATION prelu
#define KILN_VALUE(a, b) ((a) < 0.0f ? (a) * (b) : (a))
#include "reference/kernels/binary_body.h"
