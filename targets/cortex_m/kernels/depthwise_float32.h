/* float32 depthwise convolution, eight channels at a time, in place. */
#ifndef CORTEX_M_DEPTHWISE_FLOAT32_H
#define CORTEX_M_DEPTHWISE_FLOAT32_H

#include "cortex_m/kernels/float_products.h"
#include "reference/kernels/window.h"

struct cortex_m_depthwise_float32_shape {
    KILN_WINDOW_MEMBERS
    float clamp_low, clamp_high;
};

/* All channels of a pixel: taps `rows` and `columns` of the window at `first` are inside. */
KILN_SHARED __attribute__((unused)) void
cortex_m_float_depthwise_pixel(const struct cortex_m_depthwise_float32_shape *s, const float *first,
                               struct kiln_taps rows, struct kiln_taps columns,
                               const float *weights, const float *bias, float *output) {
    const int32_t channels = s->input_channels, step = s->dilation_x * channels;
    const int32_t line = s->dilation_y * s->input_width * channels;
    first += rows.begin * line + columns.begin * step;
    weights += (rows.begin * s->kernel_width + columns.begin) * channels;
    int32_t c = 0;
    for (; c + 8 <= channels; c += 8) {
        float sums[8];
        const float *x = first + c, *w = weights + c;
        for (int32_t i = 0; i < 8; i++)
            sums[i] = bias[c + i];
        for (int32_t ky = rows.begin; ky < rows.end; ky++) {
            cortex_m_float_taps(x, step, w, channels, columns.end - columns.begin, sums);
            x += line, w += s->kernel_width * channels;
        }
        cortex_m_float_store(output + c, sums, 8, s->clamp_low, s->clamp_high);
    }
    for (; c < channels; c++) {
        float sum = bias[c];
        for (int32_t ky = 0; ky < rows.end - rows.begin; ky++)
            for (int32_t kx = 0; kx < columns.end - columns.begin; kx++)
                sum += first[ky * line + kx * step + c] *
                       weights[(ky * s->kernel_width + kx) * channels + c];
        output[c] = kiln_clamp_float(sum, s->clamp_low, s->clamp_high);
    }
}

KILN_KERNEL void
depthwise_conv2d_float32__cortex_m(const struct cortex_m_depthwise_float32_shape *s,
                                   const float *input, const float *weights, const float *bias,
                                   float *output) {
    for (int32_t n = 0; n < s->batch; n++) {
        for (int32_t y = 0; y < s->output_height; y++) {
            const int32_t y0 = y * s->stride_y - s->pad_top;
            const struct kiln_taps rows =
                kiln_taps_inside(y0, s->input_height, s->dilation_y, s->kernel_height);
            for (int32_t x = 0; x < s->output_width; x++, output += s->output_channels) {
                const int32_t x0 = x * s->stride_x - s->pad_left;
                const struct kiln_taps columns =
                    kiln_taps_inside(x0, s->input_width, s->dilation_x, s->kernel_width);
                cortex_m_float_depthwise_pixel(
                    s, input + (y0 * s->input_width + x0) * s->input_channels, rows, columns,
                    weights, bias, output);
            }
        }
        input += s->input_height * s->input_width * s->input_channels;
    }
}

#endif
