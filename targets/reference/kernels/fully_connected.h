/* Fully connected: input (rows, depth), weights (output_channels, depth). */
#ifndef REFERENCE_FULLY_CONNECTED_H
#define REFERENCE_FULLY_CONNECTED_H

#include "reference/kernels/weighted.h"

struct fully_connected_float32_shape {
    int32_t rows, depth, output_channels;
    KILN_REAL_MEMBERS
};
struct fully_connected_integer_shape {
    int32_t rows, depth, output_channels;
    KILN_INTEGER_MEMBERS
};

#include "reference/kernels/types/float32.h"
#include "reference/kernels/fully_connected_body.h"
#include "reference/kernels/types/end.h"

#include "reference/kernels/types/int8.h"
#include "reference/kernels/fully_connected_body.h"
#include "reference/kernels/types/end.h"

#include "reference/kernels/types/uint8.h"
#include "reference/kernels/fully_connected_body.h"
#include "reference/kernels/types/end.h"

#include "reference/kernels/types/int16.h"
#include "reference/kernels/fully_connected_body.h"
#include "reference/kernels/types/end.h"

#endif
