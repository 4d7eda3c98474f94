/* Transposed convolution, each output gathered: weights OHWI. */
#ifndef REFERENCE_TRANSPOSE_CONV2D_H
#define REFERENCE_TRANSPOSE_CONV2D_H

#include "reference/kernels/weighted.h"
#include "reference/kernels/window.h"

struct transpose_conv2d_float32_shape {
    KILN_WINDOW_MEMBERS
    KILN_REAL_MEMBERS
};
struct transpose_conv2d_integer_shape {
    KILN_WINDOW_MEMBERS
    KILN_INTEGER_MEMBERS
};

#include "reference/kernels/types/float32.h"
#include "reference/kernels/transpose_conv2d_body.h"
#include "reference/kernels/types/end.h"

#include "reference/kernels/types/int8.h"
#include "reference/kernels/transpose_conv2d_body.h"
#include "reference/kernels/types/end.h"

#include "reference/kernels/types/uint8.h"
#include "reference/kernels/transpose_conv2d_body.h"
#include "reference/kernels/types/end.h"

#include "reference/kernels/types/int16.h"
#include "reference/kernels/transpose_conv2d_body.h"
#include "reference/kernels/types/end.h"

#endif
