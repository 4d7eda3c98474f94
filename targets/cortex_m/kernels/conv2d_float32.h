/* float32 convolution of two pixels and four channels at a time, in place: no window is copied. */
#ifndef CORTEX_M_CONV2D_FLOAT32_H
#define CORTEX_M_CONV2D_FLOAT32_H

#include "cortex_m/kernels/float_products.h"
#include "reference/kernels/window.h"

struct cortex_m_conv2d_float32_shape {
    KILN_WINDOW_MEMBERS
    float clamp_low, clamp_high;
};

/* Where a window is, and which of its taps are inside. */
struct cortex_m_window {
    struct kiln_taps rows, columns;
    const float *first; /* tap (0, 0), perhaps outside */
    int32_t is_whole;
};

KILN_INLINE struct cortex_m_window cortex_m_window_at(const struct cortex_m_conv2d_float32_shape *s,
                                                      const float *image, int32_t y, int32_t x) {
    const int32_t y0 = y * s->stride_y - s->pad_top, x0 = x * s->stride_x - s->pad_left;
    struct cortex_m_window window;
    window.rows = kiln_taps_inside(y0, s->input_height, s->dilation_y, s->kernel_height);
    window.columns = kiln_taps_inside(x0, s->input_width, s->dilation_x, s->kernel_width);
    window.first = image + (y0 * s->input_width + x0) * s->input_channels;
    window.is_whole = window.columns.end - window.columns.begin == s->kernel_width;
    return window;
}

/* Sums of `pixels` neighbours, whose windows have the same taps inside, and four channels. */
KILN_INLINE void cortex_m_float_window(const struct cortex_m_conv2d_float32_shape *s,
                                       const struct cortex_m_window *window, int32_t pixels,
                                       const float *weights, float sums[2][4]) {
    const int32_t depth = s->input_channels, pitch = s->stride_x * depth;
    const struct kiln_taps columns = window->columns;
    for (int32_t ky = window->rows.begin; ky < window->rows.end; ky++) {
        const float *row = window->first + ky * s->dilation_y * s->input_width * depth;
        const float *w = weights + ky * s->kernel_width * depth * 4;
        if (s->dilation_x == 1) {
            const int32_t skipped = columns.begin * depth;
            cortex_m_float_dot(row + skipped, pitch, w + 4 * skipped,
                               (columns.end - columns.begin) * depth, pixels, sums);
            continue;
        }
        for (int32_t kx = columns.begin; kx < columns.end; kx++)
            cortex_m_float_dot(row + kx * s->dilation_x * depth, pitch, w + 4 * kx * depth, depth,
                               pixels, sums);
    }
}

/* All channels of `pixels` (1 or 2) neighbours. */
KILN_SHARED __attribute__((unused)) void
cortex_m_float_pixels(const struct cortex_m_conv2d_float32_shape *s,
                      const struct cortex_m_window *window, int32_t pixels, const float *weights,
                      const float *bias, float *output) {
    const int32_t channels = s->output_channels;
    const int32_t taps = s->kernel_height * s->kernel_width * s->input_channels;
    for (int32_t c = 0; c < channels; c += 4, weights += 4 * taps, bias += 4, output += 4) {
        const int32_t count = channels - c < 4 ? channels - c : 4;
        float sums[2][4] = {{bias[0], bias[1], bias[2], bias[3]},
                            {bias[0], bias[1], bias[2], bias[3]}};
        if (pixels == 2) {
            cortex_m_float_window(s, window, 2, weights, sums);
            cortex_m_float_store(output + channels, sums[1], count, s->clamp_low, s->clamp_high);
        } else {
            cortex_m_float_window(s, window, 1, weights, sums);
        }
        cortex_m_float_store(output, sums[0], count, s->clamp_low, s->clamp_high);
    }
}

/* weights: [block of four channels][tap][input][channel], bias padded to whole blocks. */
KILN_KERNEL void conv2d_float32__cortex_m(const struct cortex_m_conv2d_float32_shape *s,
                                          const float *input, const float *weights,
                                          const float *bias, float *output) {
    for (int32_t n = 0; n < s->batch; n++) {
        for (int32_t y = 0; y < s->output_height; y++) {
            for (int32_t x = 0; x < s->output_width;) {
                const struct cortex_m_window window = cortex_m_window_at(s, input, y, x);
                int32_t pixels = 1;
                if (x + 1 < s->output_width && window.is_whole)
                    pixels += cortex_m_window_at(s, input, y, x + 1).is_whole;
                cortex_m_float_pixels(s, &window, pixels, weights, bias, output);
                x += pixels, output += pixels * s->output_channels;
            }
        }
        input += s->input_height * s->input_width * s->input_channels;
    }
}

#endif
