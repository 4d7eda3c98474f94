/* int8 convolution: windows are widened to 16 bits, two pixels at a time, and multiplied with the
 * weights of two channels at a time. Fully connected layers are convolutions of 1x1. */
#ifndef CORTEX_M_CONV2D_INT8_H
#define CORTEX_M_CONV2D_INT8_H

#include "cortex_m/kernels/products.h"

/* A run is what lies together of a window: all taps of a row, or one tap where they are dilated;
 * runs * run = kernel_height * kernel_width * input_channels. Depth is that, rounded up to 8. */
struct cortex_m_conv2d_int8_shape {
    int32_t batch, input_height, input_width, input_channels;
    int32_t output_height, output_width, output_channels;
    int32_t kernel_height, kernel_width;
    int32_t stride_y, stride_x, dilation_y, dilation_x;
    int32_t pad_top, pad_left;
    int32_t input_zero_point;
    int32_t depth;
    int32_t segment;   /* inputs of it that sums of words have room for; all but in CORTEX_M_ANY */
    int32_t single;    /* words have no second channel; only in CORTEX_M_ANY */
    int32_t pointwise; /* 1x1 with stride 1 and no padding: pixels follow each other */
    int32_t staged;    /* runs of windows inside of the image, too, do not end with a quad */
    CORTEX_M_OUTPUT_MEMBERS
};

/* As cortex_m_dot_1x4, where the other two channels' weights do not follow the first two's. */
KILN_INLINE void cortex_m_dot_1x4_apart(const int16_t *x, const int8_t *weights,
                                        const int8_t *other_weights, int32_t bytes,
                                        struct cortex_m_sums sums[2]) {
    struct cortex_m_sums first = {0, 0}, second = {0, 0};
    const int16_t *words = (const int16_t *)(const void *)weights;
    const int16_t *others = (const int16_t *)(const void *)other_weights;
    for (int32_t i = 0; i < bytes / 2; i++) {
        first.first += x[i] * (int8_t)words[i], first.both += x[i] * words[i];
        second.first += x[i] * (int8_t)others[i], second.both += x[i] * others[i];
    }
    sums[0] = first, sums[1] = second;
}

/* Sums of two channels of two pixels, or of four channels of one, over the whole depth. */
KILN_INLINE void cortex_m_sum(const struct cortex_m_conv2d_int8_shape *s, int32_t pixels,
                              int32_t mode, const int16_t *columns, const int8_t *weights,
                              struct cortex_m_sums sums[2]) {
    const int32_t segment = mode == CORTEX_M_ANY ? s->segment : s->depth;
    sums[0].first = sums[0].both = sums[1].first = sums[1].both = 0;
    /* In a segment the sums of words have room; between segments they are taken apart. */
    for (int32_t k = 0; k < s->depth; k += segment) {
        struct cortex_m_sums part[2];
        const int32_t rest = s->depth - k, bytes = 2 * (rest < segment ? rest : segment);
        if (pixels == 1 && segment < s->depth)
            cortex_m_dot_1x4_apart(columns + k, weights + 2 * k, weights + 2 * (s->depth + k),
                                   bytes, part);
        else if (pixels == 1)
            cortex_m_dot_1x4(columns + k, weights + 2 * k, bytes, part);
        else
            cortex_m_dot_2x2(columns + 2 * k, weights + 2 * k, bytes, part);
        if (mode != CORTEX_M_ANY) {
            sums[0] = part[0], sums[1] = part[1];
            return;
        }
        for (int32_t i = 0; i < 2; i++) {
            sums[i].first += part[i].first;
            sums[i].both += cortex_m_second(part[i]);
        }
    }
}

/* `pixels` (1 or 2) pixels, widened in `columns`, times all weights. */
KILN_INLINE void cortex_m_multiply(const struct cortex_m_conv2d_int8_shape *s, int32_t pixels,
                                   int32_t mode, int32_t saturates, const int16_t *columns,
                                   const int8_t *weights, const int32_t *constants,
                                   int8_t *output) {
    const int32_t channels = s->output_channels, zero_point = s->output_zero_point;
    const int32_t rounding = s->rounding, words = cortex_m_words(mode, rounding);
    const int32_t low = s->clamp_low, high = s->clamp_high, bytes = 2 * s->depth;
    const int32_t pairs = pixels == 1 ? 2 : 1;
    const int32_t step = mode == CORTEX_M_ANY && s->single ? pairs : 2 * pairs;
    int32_t c = 0;
    if (pixels == 2 && saturates && mode != CORTEX_M_ANY) {
        c = channels & ~1;
        const int32_t *last = constants + c * words;
        for (; constants != last; output += 2) {
            struct cortex_m_sums sums[2];
            weights = cortex_m_dot_2x2(columns, weights, bytes, sums);
            constants = cortex_m_store_2x2(mode, sums, constants, zero_point, output, channels);
        }
        output -= c;
    }
    for (; c < channels; c += step, weights += pairs * bytes) {
        struct cortex_m_sums sums[2];
        cortex_m_sum(s, pixels, mode, columns, weights, sums);
        for (int32_t i = 0; i < step && c + i < channels; i++, constants += words) {
            const struct cortex_m_channel channel =
                cortex_m_channel(mode, rounding, constants, zero_point);
            const int32_t last = pixels == 2 ? channels : 0;
            for (int32_t j = 0; j <= last; j += channels) {
                const int32_t pair = pixels == 2 ? j > 0 : step == pairs ? i : i >> 1;
                const struct cortex_m_sums sum = sums[pair];
                const int32_t second = mode == CORTEX_M_ANY ? sum.both : cortex_m_second(sum);
                output[j + c + i] = cortex_m_requantize(
                    mode, rounding, channel, step != pairs && (i & 1) ? second : sum.first,
                    saturates, low, high);
            }
        }
    }
}

/* Copies the window that begins at (y, x) to `to`, with the zero point where it is outside. */
KILN_INLINE void cortex_m_gather(const struct cortex_m_conv2d_int8_shape *s, const int8_t *image,
                                 int32_t y, int32_t x, int8_t *to) {
    const int32_t channels = s->input_channels;
    for (int32_t ky = 0; ky < s->kernel_height; ky++, y += s->dilation_y) {
        const int32_t inside = y >= 0 && y < s->input_height;
        const int8_t *row = image + y * s->input_width * channels;
        if (s->dilation_x == 1) {
            int32_t begin = x < 0 ? -x : 0, end = s->input_width - x;
            end = end > s->kernel_width ? s->kernel_width : end;
            begin = inside && end > begin ? begin : s->kernel_width;
            end = end > begin ? end : begin;
            cortex_m_fill(to, s->input_zero_point, begin * channels);
            cortex_m_copy(to + begin * channels, row + (x + begin) * channels,
                          (end - begin) * channels);
            cortex_m_fill(to + end * channels, s->input_zero_point,
                          (s->kernel_width - end) * channels);
            to += s->kernel_width * channels;
        } else {
            for (int32_t kx = 0; kx < s->kernel_width; kx++, to += channels) {
                const int32_t column = x + kx * s->dilation_x;
                if (inside && column >= 0 && column < s->input_width)
                    cortex_m_copy(to, row + column * channels, channels);
                else
                    cortex_m_fill(to, s->input_zero_point, channels);
            }
        }
    }
}

/* Widens the window of output pixel (y, x); its quads are `pitch` elements apart. */
KILN_INLINE void cortex_m_stage(const struct cortex_m_conv2d_int8_shape *s, const int8_t *image,
                                int32_t y, int32_t x, int8_t *window, int16_t *to, int32_t pitch) {
    const int32_t channels = s->input_channels;
    y = y * s->stride_y - s->pad_top, x = x * s->stride_x - s->pad_left;
    const int32_t last_y = y + (s->kernel_height - 1) * s->dilation_y;
    const int32_t last_x = x + (s->kernel_width - 1) * s->dilation_x;
    const int32_t step = s->dilation_y * s->input_width * channels;
    const int8_t *row = image + (y * s->input_width + x) * channels;
    const int32_t inside = y >= 0 && x >= 0 && last_y < s->input_height && last_x < s->input_width;
    if (s->staged || !inside) {
        if (inside && s->dilation_x == 1) {
            int8_t *at = window;
            for (int32_t ky = 0; ky < s->kernel_height; ky++, row += step)
                at = cortex_m_copy(at, row, s->kernel_width * channels);
        } else {
            cortex_m_gather(s, image, y, x, window);
        }
        cortex_m_widen(window, s->depth / 4, to, pitch);
        return;
    }
    for (int32_t ky = 0; ky < s->kernel_height; ky++) {
        if (s->dilation_x == 1) {
            to = cortex_m_widen(row, s->kernel_width * channels / 4, to, pitch);
        } else {
            for (int32_t kx = 0; kx < s->kernel_width; kx++)
                to = cortex_m_widen(row + kx * s->dilation_x * channels, channels / 4, to, pitch);
        }
        row += step;
    }
}

typedef void cortex_m_columns(const struct cortex_m_conv2d_int8_shape *s, const int16_t *columns,
                              const int8_t *weights, const int32_t *constants, int8_t *output);

/* scratch: the columns of two pixels (one, where there is only one), then a window of bytes, unless
 * pixels are widened where they lie. */
KILN_INLINE void cortex_m_conv2d_int8(const struct cortex_m_conv2d_int8_shape *s,
                                      const int8_t *input, const int8_t *weights,
                                      const int32_t *constants, int16_t *scratch, int8_t *output,
                                      cortex_m_columns *multiply1, cortex_m_columns *multiply2) {
    const int32_t pixels = s->batch * s->output_height * s->output_width;
    int8_t *window = (int8_t *)(scratch + (pixels > 1 ? 2 : 1) * s->depth);
    const int32_t image = s->input_height * s->input_width * s->input_channels;
    int32_t y = 0, x = 0;
    for (int32_t pixel = 0; pixel < pixels; pixel += 2, output += 2 * s->output_channels) {
        const int32_t two = pixel + 1 < pixels;
        for (int32_t i = 0; i <= two; i++) {
            int16_t *to = scratch + 4 * i;
            const int32_t pitch = two ? 8 : 4;
            if (s->pointwise && !s->staged) {
                cortex_m_widen(input, s->input_channels / 4, to, pitch);
                input += s->input_channels;
            } else if (s->pointwise) {
                cortex_m_copy(window, input, s->input_channels);
                cortex_m_widen(window, s->depth / 4, to, pitch);
                input += s->input_channels;
            } else {
                cortex_m_stage(s, input, y, x, window, to, pitch);
                if (++x == s->output_width) {
                    x = 0;
                    if (++y == s->output_height)
                        y = 0, input += image;
                }
            }
        }
        if (two)
            multiply2(s, scratch, weights, constants, output);
        else
            multiply1(s, scratch, weights, constants, output);
    }
}

/* A kernel for one way to requantize; what multiplies is not inlined, so that layers share it. */
#define CORTEX_M_CONV2D(name, mode, saturates)                                                     \
    KILN_SHARED __attribute__((unused)) void name##_columns1(                                      \
        const struct cortex_m_conv2d_int8_shape *s, const int16_t *columns, const int8_t *weights, \
        const int32_t *constants, int8_t *output) {                                                \
        cortex_m_multiply(s, 1, mode, saturates, columns, weights, constants, output);             \
    }                                                                                              \
    KILN_SHARED __attribute__((unused)) void name##_columns2(                                      \
        const struct cortex_m_conv2d_int8_shape *s, const int16_t *columns, const int8_t *weights, \
        const int32_t *constants, int8_t *output) {                                                \
        cortex_m_multiply(s, 2, mode, saturates, columns, weights, constants, output);             \
    }                                                                                              \
    KILN_KERNEL void name(const struct cortex_m_conv2d_int8_shape *shape, const int8_t *input,     \
                          const int8_t *weights, const int32_t *constants, int16_t *scratch,       \
                          int8_t *output) {                                                        \
        cortex_m_conv2d_int8(shape, input, weights, constants, scratch, output, name##_columns1,   \
                             name##_columns2);                                                     \
    }

CORTEX_M_CONV2D(conv2d_int8__cortex_m_double, CORTEX_M_DOUBLE, 1)
CORTEX_M_CONV2D(conv2d_int8__cortex_m_double_clamped, CORTEX_M_DOUBLE, 0)
CORTEX_M_CONV2D(conv2d_int8__cortex_m_single, CORTEX_M_SINGLE, 1)
CORTEX_M_CONV2D(conv2d_int8__cortex_m_single_clamped, CORTEX_M_SINGLE, 0)
CORTEX_M_CONV2D(conv2d_int8__cortex_m_fast, CORTEX_M_FAST, 1)
CORTEX_M_CONV2D(conv2d_int8__cortex_m_fast_clamped, CORTEX_M_FAST, 0)
CORTEX_M_CONV2D(conv2d_int8__cortex_m_any, CORTEX_M_ANY, 0)

#endif
