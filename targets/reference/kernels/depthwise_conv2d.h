/* Depthwise convolution: weights (1, kernel_height, kernel_width, output_channels). */
#ifndef REFERENCE_DEPTHWISE_CONV2D_H
#define REFERENCE_DEPTHWISE_CONV2D_H

#include "reference/kernels/weighted.h"
#include "reference/kernels/window.h"

struct depthwise_conv2d_float32_shape {
    KILN_WINDOW_MEMBERS
    KILN_REAL_MEMBERS
};
struct depthwise_conv2d_integer_shape {
    KILN_WINDOW_MEMBERS
    KILN_INTEGER_MEMBERS
};

#include "reference/kernels/types/float32.h"
#include "reference/kernels/depthwise_conv2d_body.h"
#include "reference/kernels/types/end.h"

#include "reference/kernels/types/int8.h"
#include "reference/kernels/depthwise_conv2d_body.h"
#include "reference/kernels/types/end.h"

#include "reference/kernels/types/uint8.h"
#include "reference/kernels/depthwise_conv2d_body.h"
#include "reference/kernels/types/end.h"

#include "reference/kernels/types/int16.h"
#include "reference/kernels/depthwise_conv2d_body.h"
#include "reference/kernels/types/end.h"

#endif
