/* Float operators with int8 weights: each row of activations is quantized to int8 in each run. */
#ifndef REFERENCE_HYBRID_H
#define REFERENCE_HYBRID_H

#include "reference/kernels/products.h"
#include "reference/kernels/window.h"

#define KILN_HYBRID_MEMBERS                                                                        \
    int32_t row_elements; /* that are quantized together */                                        \
    int32_t symmetric;    /* zero point 0, in [-127, 127] */                                       \
    float clamp_low, clamp_high;

struct hybrid_fully_connected_shape {
    int32_t rows, output_channels;
    KILN_HYBRID_MEMBERS
};
struct hybrid_conv2d_shape {
    KILN_WINDOW_MEMBERS
    int32_t group_channels; /* input channels that one output channel reads */
    KILN_HYBRID_MEMBERS
};
struct hybrid_depthwise_conv2d_shape {
    KILN_WINDOW_MEMBERS
    KILN_HYBRID_MEMBERS
};

struct kiln_row_scale {
    float scale;
    int32_t zero_point;
};

/* C's round: ties away from zero; |value| < 2^31. */
KILN_INLINE int32_t kiln_round_half_away(float value) {
    const int32_t whole = (int32_t)value; /* towards zero, so the rest is exact */
    const float rest = value - (float)whole;
    return rest >= 0.5f ? whole + 1 : rest <= -0.5f ? whole - 1 : whole;
}

/* The zero point of a range that has 0 in it, from the end that gives it more exactly. Doubles, as
 * in TFLite: their rounding decides. */
KILN_INLINE struct kiln_row_scale kiln_scale_of_range(float low, float high) {
    const double scale = ((double)high - (double)low) / 255.0;
    const double below = (double)low / scale, above = (double)high / scale;
    const double zero = 128.0 - below < 127.0 + above ? -128.0 - below : 127.0 - above;
    const double rounded = zero < 0.0 ? zero - 0.5 : zero + 0.5;
    const struct kiln_row_scale result = {(float)scale, kiln_clamp((int32_t)rounded, -128, 127)};
    return result;
}

/* Quantizes `count` floats together. */
KILN_INLINE struct kiln_row_scale kiln_quantize_row(const float *x, int32_t count,
                                                    int32_t symmetric, int8_t *quantized) {
    float low = 0.0f, high = 0.0f;
    for (int32_t i = 0; i < count; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    struct kiln_row_scale row = {1.0f, 0};
    float inverse = 0.0f;
    int32_t least = -128;
    if (symmetric && low != high) {
        const float largest = -low > high ? -low : high;
        row.scale = largest / 127.0f;
        inverse = 127.0f / largest;
        least = -127;
    } else if (low != high) {
        row = kiln_scale_of_range(low, high);
        inverse = 1.0f / row.scale;
    }
    const float zero = (float)row.zero_point;
    for (int32_t i = 0; i < count; i++)
        quantized[i] = (int8_t)kiln_clamp(kiln_round_half_away(zero + x[i] * inverse), least, 127);
    return row;
}

KILN_KERNEL void hybrid_fully_connected__reference(const struct hybrid_fully_connected_shape *s,
                                                   const float *x, const int8_t *weights,
                                                   const float *bias, const float *channel_scale,
                                                   int8_t *quantized, float *output) {
    const int32_t depth = s->row_elements;
    for (int32_t n = 0; n < s->rows; n++, x += depth) {
        const struct kiln_row_scale row = kiln_quantize_row(x, depth, s->symmetric, quantized);
        for (int32_t o = 0; o < s->output_channels; o++) {
            const int32_t sum =
                kiln_dot_int8(quantized, row.zero_point, weights + o * depth, 0, depth);
            const float value = (float)sum * channel_scale[o] * row.scale + bias[o];
            *output++ = kiln_clamp_float(value, s->clamp_low, s->clamp_high);
        }
    }
}

KILN_KERNEL void hybrid_conv2d__reference(const struct hybrid_conv2d_shape *s, const float *input,
                                          const int8_t *weights, const float *bias,
                                          const float *channel_scale, int8_t *quantized,
                                          float *output) {
    const int32_t channels = s->output_channels, depth = s->group_channels;
    const int32_t group_outputs = channels / (s->input_channels / depth);
    const int32_t weights_per_output = s->kernel_height * s->kernel_width * depth;
    for (int32_t n = 0; n < s->batch; n++, input += s->row_elements) {
        const struct kiln_row_scale row =
            kiln_quantize_row(input, s->row_elements, s->symmetric, quantized);
        for (int32_t y = 0; y < s->output_height; y++) {
            const int32_t y0 = y * s->stride_y - s->pad_top;
            const struct kiln_taps rows =
                kiln_taps_inside(y0, s->input_height, s->dilation_y, s->kernel_height);
            for (int32_t x = 0; x < s->output_width; x++) {
                const int32_t x0 = x * s->stride_x - s->pad_left;
                const struct kiln_taps columns =
                    kiln_taps_inside(x0, s->input_width, s->dilation_x, s->kernel_width);
                for (int32_t o = 0; o < channels; o++) {
                    const int8_t *pixels = quantized + o / group_outputs * depth;
                    int32_t sum = 0;
                    for (int32_t ky = rows.begin; ky < rows.end; ky++) {
                        const int32_t line = (y0 + ky * s->dilation_y) * s->input_width + x0;
                        for (int32_t kx = columns.begin; kx < columns.end; kx++)
                            sum += kiln_dot_int8(pixels + (line + kx * s->dilation_x) *
                                                              s->input_channels,
                                                 row.zero_point,
                                                 weights + o * weights_per_output +
                                                     (ky * s->kernel_width + kx) * depth,
                                                 0, depth);
                    }
                    const float value = (float)sum * channel_scale[o] * row.scale + bias[o];
                    *output++ = kiln_clamp_float(value, s->clamp_low, s->clamp_high);
                }
            }
        }
    }
}

KILN_KERNEL void hybrid_depthwise_conv2d__reference(const struct hybrid_depthwise_conv2d_shape *s,
                                                    const float *input, const int8_t *weights,
                                                    const float *bias, const float *channel_scale,
                                                    int8_t *quantized, float *output) {
    const int32_t channels = s->output_channels;
    const int32_t multiplier = channels / s->input_channels;
    for (int32_t n = 0; n < s->batch; n++, input += s->row_elements) {
        const struct kiln_row_scale row =
            kiln_quantize_row(input, s->row_elements, s->symmetric, quantized);
        for (int32_t y = 0; y < s->output_height; y++) {
            const int32_t y0 = y * s->stride_y - s->pad_top;
            const struct kiln_taps rows =
                kiln_taps_inside(y0, s->input_height, s->dilation_y, s->kernel_height);
            for (int32_t x = 0; x < s->output_width; x++) {
                const int32_t x0 = x * s->stride_x - s->pad_left;
                const struct kiln_taps columns =
                    kiln_taps_inside(x0, s->input_width, s->dilation_x, s->kernel_width);
                for (int32_t o = 0; o < channels; o++) {
                    int32_t sum = 0;
                    for (int32_t ky = rows.begin; ky < rows.end; ky++) {
                        const int32_t line = (y0 + ky * s->dilation_y) * s->input_width + x0;
                        for (int32_t kx = columns.begin; kx < columns.end; kx++)
                            sum += (quantized[(line + kx * s->dilation_x) * s->input_channels +
                                              o / multiplier] -
                                    row.zero_point) *
                                   weights[(ky * s->kernel_width + kx) * channels + o];
                    }
                    const float value = (float)sum * channel_scale[o] * row.scale + bias[o];
                    *output++ = kiln_clamp_float(value, s->clamp_low, s->clamp_high);
                }
            }
        }
    }
}

#endif
