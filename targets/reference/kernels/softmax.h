/* What normalises along one axis: softmax, log_softmax, l2_normalization. */
#ifndef REFERENCE_SOFTMAX_H
#define REFERENCE_SOFTMAX_H

#include "kernel.h"
#include "kiln_math.h"
#include "reference/kernels/fixed_point.h"

/* (outer, extent, inner); the axis has `extent` elements `inner` apart. */
struct softmax_shape {
    int32_t outer, extent, inner;
    float beta;
};
struct l2_normalization_shape {
    int32_t outer, extent;
    float epsilon;
};

/* Sums and maxima of a row run in so many lanes, so that a compiler can use vectors. */
#define KILN_SOFTMAX_LANES 16

KILN_INLINE float kiln_largest(const float *input, int32_t count, int32_t step) {
    float largest = input[0];
    int32_t i = 1;
    if (step == 1 && count >= KILN_SOFTMAX_LANES) {
        float lane[KILN_SOFTMAX_LANES];
        for (int32_t j = 0; j < KILN_SOFTMAX_LANES; j++)
            lane[j] = input[j];
        for (i = KILN_SOFTMAX_LANES; i + KILN_SOFTMAX_LANES <= count; i += KILN_SOFTMAX_LANES) {
            for (int32_t j = 0; j < KILN_SOFTMAX_LANES; j++)
                lane[j] = input[i + j] > lane[j] ? input[i + j] : lane[j];
        }
        for (int32_t j = 0; j < KILN_SOFTMAX_LANES; j++)
            largest = lane[j] > largest ? lane[j] : largest;
    }
    for (; i < count; i++)
        largest = input[i * step] > largest ? input[i * step] : largest;
    return largest;
}

KILN_INLINE float kiln_row_sum(const float *input, int32_t count, int32_t step) {
    float sum = 0.0f;
    int32_t i = 0;
    if (step == 1 && count >= KILN_SOFTMAX_LANES) {
        float lane[KILN_SOFTMAX_LANES] = {0};
        for (; i + KILN_SOFTMAX_LANES <= count; i += KILN_SOFTMAX_LANES) {
            for (int32_t j = 0; j < KILN_SOFTMAX_LANES; j++)
                lane[j] += input[i + j];
        }
        for (int32_t j = 0; j < KILN_SOFTMAX_LANES; j++)
            sum += lane[j];
    }
    for (; i < count; i++)
        sum += input[i * step];
    return sum;
}

KILN_KERNEL void softmax_float32__reference(const struct softmax_shape *s, const float *input,
                                            float *output) {
    for (int32_t outer = 0; outer < s->outer; outer++) {
        for (int32_t inner = 0; inner < s->inner; inner++) {
            const int32_t first = outer * s->extent * s->inner + inner;
            const float *x = input + first;
            float *y = output + first;
            const float largest =
                s->beta < 0.0f ? 0.0f : s->beta * kiln_largest(x, s->extent, s->inner);
            KILN_INDEPENDENT
            for (int32_t i = 0; i < s->extent; i++)
                y[i * s->inner] = kiln_expf(s->beta * x[i * s->inner] - largest);
            const float scale = 1.0f / kiln_row_sum(y, s->extent, s->inner);
            KILN_INDEPENDENT
            for (int32_t i = 0; i < s->extent; i++)
                y[i * s->inner] *= scale;
        }
    }
}

KILN_KERNEL void log_softmax_float32__reference(const struct softmax_shape *s, const float *input,
                                                float *output) {
    for (int32_t outer = 0; outer < s->outer; outer++) {
        for (int32_t inner = 0; inner < s->inner; inner++) {
            const int32_t first = outer * s->extent * s->inner + inner;
            const float *x = input + first;
            const float largest = kiln_largest(x, s->extent, s->inner);
            float sum = 0.0f;
            for (int32_t i = 0; i < s->extent; i++)
                sum += kiln_expf(x[i * s->inner] - largest);
            const float offset = kiln_logf(sum);
            for (int32_t i = 0; i < s->extent; i++)
                output[first + i * s->inner] = (x[i * s->inner] - largest) - offset;
        }
    }
}

KILN_KERNEL void l2_normalization_float32__reference(const struct l2_normalization_shape *s,
                                                     const float *input, float *output) {
    for (int32_t outer = 0; outer < s->outer; outer++) {
        float sum = 0.0f;
        for (int32_t i = 0; i < s->extent; i++)
            sum += input[i] * input[i];
        const float norm = kiln_sqrtf(sum > s->epsilon ? sum : s->epsilon);
        for (int32_t i = 0; i < s->extent; i++)
            output[i] = input[i] / norm;
        input += s->extent;
        output += s->extent;
    }
}

/* 8-bit softmax in fixed point, as TFLite's: exponentials[d] is exp(-d * scale * beta) with 31
 * fraction bits for a distance d from the largest, 0 where it is too far. */
struct softmax_integer_shape {
    int32_t outer, extent, inner; /* extent below 4096: sums have 12 integer bits */
};

#define KILN_SOFTMAX softmax_int8__reference
#define KILN_TYPE int8_t
#define KILN_LEAST INT8_MIN
#include "reference/kernels/softmax_body.h"

#define KILN_SOFTMAX softmax_uint8__reference
#define KILN_TYPE uint8_t
#define KILN_LEAST 0
#include "reference/kernels/softmax_body.h"

#endif
