/* Dot products along dense runs of memory, written so that compilers vectorise them. */
#ifndef REFERENCE_PRODUCTS_H
#define REFERENCE_PRODUCTS_H

#include "kernel.h"

/* Eight partial sums: a compiler may not reorder the additions of floats by itself. */
KILN_INLINE float kiln_dot_float32(const float *input, const float *weights, int32_t count) {
    float sum[8] = {0};
    int32_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (int32_t j = 0; j < 8; j++)
            sum[j] += input[i + j] * weights[i + j];
    for (int32_t j = 0; i + j < count; j++)
        sum[j] += input[i + j] * weights[i + j];
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

/* Wraps. */
KILN_INLINE uint32_t kiln_dot_int32(const int32_t *input, const int32_t *weights, int32_t count) {
    uint32_t sum = 0;
    for (int32_t i = 0; i < count; i++)
        sum += (uint32_t)input[i] * (uint32_t)weights[i];
    return sum;
}

#define KILN_DOT kiln_dot_int8
#define KILN_INPUT int8_t
#define KILN_WEIGHT int8_t
#define KILN_SUM int32_t
#include "reference/kernels/products_body.h"

#define KILN_DOT kiln_dot_uint8
#define KILN_INPUT uint8_t
#define KILN_WEIGHT uint8_t
#define KILN_SUM int32_t
#include "reference/kernels/products_body.h"

/* 16-bit activations with 8-bit weights. */
#define KILN_DOT kiln_dot_int16
#define KILN_INPUT int16_t
#define KILN_WEIGHT int8_t
#define KILN_SUM int64_t
#include "reference/kernels/products_body.h"

/* Both operands are activations. */
#define KILN_DOT kiln_dot_int16_int16
#define KILN_INPUT int16_t
#define KILN_WEIGHT int16_t
#define KILN_SUM int64_t
#include "reference/kernels/products_body.h"

#endif
