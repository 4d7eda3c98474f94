/* Between types: quantize, dequantize, requantize and cast. */
#ifndef REFERENCE_CONVERT_H
#define REFERENCE_CONVERT_H

#include "reference/kernels/half.h"
#include "reference/kernels/real.h"

struct quantize_shape {
    int32_t count;
    float scale;
    int32_t zero_point, low, high; /* low and high: output integers */
};
struct requantize_shape {
    int32_t count;
    int32_t input_zero_point, output_zero_point, multiplier, shift, low, high;
};
struct cast_shape {
    int32_t count;
};

/* quantize to, dequantize from one type. */
#define KILN_DTYPE int8
#define KILN_TYPE int8_t
#include "reference/kernels/quantize_body.h"
#define KILN_DTYPE uint8
#define KILN_TYPE uint8_t
#include "reference/kernels/quantize_body.h"
#define KILN_DTYPE int16
#define KILN_TYPE int16_t
#include "reference/kernels/quantize_body.h"

KILN_KERNEL void dequantize_int32__reference(const struct quantize_shape *s, const int32_t *input,
                                             float *output) {
    KILN_INDEPENDENT
    for (int32_t i = 0; i < s->count; i++)
        output[i] = (float)((int64_t)input[i] - s->zero_point) * s->scale;
}

#define KILN_NAME(to) requantize_int8_##to##__reference
#define KILN_INPUT int8_t
#include "reference/kernels/requantize_list.h"
#define KILN_NAME(to) requantize_uint8_##to##__reference
#define KILN_INPUT uint8_t
#include "reference/kernels/requantize_list.h"
#define KILN_NAME(to) requantize_int16_##to##__reference
#define KILN_INPUT int16_t
#include "reference/kernels/requantize_list.h"
#define KILN_NAME(to) requantize_int32_##to##__reference
#define KILN_INPUT int32_t
#include "reference/kernels/requantize_list.h"

/* Towards zero and saturated; NaN gives 0. */
KILN_INLINE int64_t kiln_integer_of_float(float value) {
    if (value != value)
        return 0;
    if (value >= 9223372036854775808.0f)
        return INT64_MAX;
    return value <= -9223372036854775808.0f ? INT64_MIN : (int64_t)value;
}
KILN_INLINE int32_t kiln_int32_of_float(float value) {
    if (value != value)
        return 0;
    if (value >= 2147483648.0f)
        return INT32_MAX;
    return value <= -2147483648.0f ? INT32_MIN : (int32_t)value;
}

/* Casts from integers wrap where they narrow. */
#define KILN_LOAD(x) (x)
#define KILN_TO_INTEGER(x) (x)
#define KILN_TO_INT64(x) (x)
#define KILN_NAME(to) cast_int8_##to##__reference
#define KILN_INPUT int8_t
#include "reference/kernels/cast_list.h"
#define KILN_NAME(to) cast_uint8_##to##__reference
#define KILN_INPUT uint8_t
#include "reference/kernels/cast_list.h"
#define KILN_NAME(to) cast_int16_##to##__reference
#define KILN_INPUT int16_t
#include "reference/kernels/cast_list.h"
#define KILN_NAME(to) cast_int32_##to##__reference
#define KILN_INPUT int32_t
#include "reference/kernels/cast_list.h"
#define KILN_NAME(to) cast_int64_##to##__reference
#define KILN_INPUT int64_t
#include "reference/kernels/cast_list.h"
#undef KILN_TO_INTEGER
#undef KILN_TO_INT64

#define KILN_TO_INTEGER(x) kiln_int32_of_float(x)
#define KILN_TO_INT64(x) kiln_integer_of_float(x)
#define KILN_NAME(to) cast_float32_##to##__reference
#define KILN_INPUT float
#include "reference/kernels/cast_list.h"
#undef KILN_LOAD

#define KILN_LOAD(x) kiln_float_of_half(x)
#define KILN_NAME(to) cast_float16_##to##__reference
#define KILN_INPUT uint16_t
#include "reference/kernels/cast_list.h"
#undef KILN_LOAD
#undef KILN_TO_INTEGER
#undef KILN_TO_INT64

#endif
