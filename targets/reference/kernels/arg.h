/* arg_max and arg_min: the index of the first extreme element along one axis. */
#ifndef REFERENCE_ARG_H
#define REFERENCE_ARG_H

#include "kernel.h"

/* input (outer, extent, inner) -> output (outer, inner) */
struct arg_shape {
    int32_t outer, extent, inner;
};

#define KILN_NAME(operation, index) operation##_float32_##index##__reference
#define KILN_INPUT float
#include "reference/kernels/arg_list.h"

#define KILN_NAME(operation, index) operation##_int8_##index##__reference
#define KILN_INPUT int8_t
#include "reference/kernels/arg_list.h"

#define KILN_NAME(operation, index) operation##_uint8_##index##__reference
#define KILN_INPUT uint8_t
#include "reference/kernels/arg_list.h"

#define KILN_NAME(operation, index) operation##_int16_##index##__reference
#define KILN_INPUT int16_t
#include "reference/kernels/arg_list.h"

#define KILN_NAME(operation, index) operation##_int32_##index##__reference
#define KILN_INPUT int32_t
#include "reference/kernels/arg_list.h"

#define KILN_NAME(operation, index) operation##_int64_##index##__reference
#define KILN_INPUT int64_t
#include "reference/kernels/arg_list.h"

#endif
