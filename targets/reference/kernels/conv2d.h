/* 2-D convolution, grouped or not: NHWC activations, OHWI weights. */
#ifndef REFERENCE_CONV2D_H
#define REFERENCE_CONV2D_H

#include "reference/kernels/weighted.h"
#include "reference/kernels/window.h"

struct conv2d_float32_shape {
    KILN_WINDOW_MEMBERS
    int32_t groups;
    KILN_REAL_MEMBERS
};
struct conv2d_integer_shape {
    KILN_WINDOW_MEMBERS
    int32_t groups;
    int32_t
        outside_value; /* of taps outside: the input's zero point where that is folded, else 0 */
    KILN_INTEGER_MEMBERS
};

#include "reference/kernels/types/float32.h"
#include "reference/kernels/conv2d_body.h"
#include "reference/kernels/types/end.h"

#include "reference/kernels/types/int32.h"
#include "reference/kernels/conv2d_body.h"
#include "reference/kernels/types/end.h"

#include "reference/kernels/types/int8.h"
#include "reference/kernels/conv2d_body.h"
#include "reference/kernels/types/end.h"

#include "reference/kernels/types/uint8.h"
#include "reference/kernels/conv2d_body.h"
#include "reference/kernels/types/end.h"

#include "reference/kernels/types/int16.h"
#include "reference/kernels/conv2d_body.h"
#include "reference/kernels/types/end.h"

#endif
