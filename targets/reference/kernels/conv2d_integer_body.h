/* One integer convolution: expects KILN_CONV2D (its name), KILN_INPUT, KILN_WEIGHT, KILN_OUTPUT.
 * Included once per combination of types; it undefines what it expects. */

#define KILN_JOIN_(a, b) a##b
#define KILN_JOIN(a, b) KILN_JOIN_(a, b)
#define KILN_DOT KILN_JOIN(KILN_CONV2D, _dot)
#define KILN_WEIGHT_SUM KILN_JOIN(KILN_CONV2D, _weight_sum)
#define KILN_WINDOW_SUM KILN_JOIN(KILN_CONV2D, _window_sum)

KILN_INLINE int32_t KILN_DOT(const KILN_INPUT *input, const KILN_WEIGHT *weights, int32_t count,
                             int32_t weight_zero_point) {
    int32_t sum = 0;
    for (int32_t i = 0; i < count; i++)
        sum += input[i] * (weights[i] - weight_zero_point);
    return sum;
}

KILN_INLINE int32_t KILN_WEIGHT_SUM(const KILN_WEIGHT *weights, int32_t count,
                                    int32_t weight_zero_point) {
    int32_t sum = 0;
    for (int32_t i = 0; i < count; i++)
        sum += weights[i] - weight_zero_point;
    return sum;
}

/* Input times weight over one window of one group; taps outside hold the input's zero point. */
KILN_INLINE int32_t KILN_WINDOW_SUM(const struct conv2d_integer_shape *s, const KILN_INPUT *image,
                                    const KILN_WEIGHT *weights, int32_t y0, int32_t x0,
                                    struct kiln_taps rows, struct kiln_taps columns) {
    const int32_t depth = s->input_channels / s->groups;
    const int32_t row = s->kernel_width * depth;
    const int32_t inside = columns.end - columns.begin;
    int32_t sum = 0, outside = 0;
    for (int32_t ky = 0; ky < s->kernel_height; ky++, weights += row) {
        if (ky < rows.begin || ky >= rows.end) {
            outside += KILN_WEIGHT_SUM(weights, row, s->weight_zero_point);
            continue;
        }
        const KILN_INPUT *line =
            image + (y0 + ky * s->dilation_y) * s->input_width * s->input_channels;
        if (inside < s->kernel_width) {
            outside += KILN_WEIGHT_SUM(weights, columns.begin * depth, s->weight_zero_point);
            outside +=
                KILN_WEIGHT_SUM(weights + columns.end * depth,
                                (s->kernel_width - columns.end) * depth, s->weight_zero_point);
        }
        if (s->dilation_x == 1 && s->groups == 1) {
            /* The taps inside are one run of memory. */
            sum += KILN_DOT(line + (x0 + columns.begin) * depth, weights + columns.begin * depth,
                            inside * depth, s->weight_zero_point);
            continue;
        }
        for (int32_t kx = columns.begin; kx < columns.end; kx++)
            sum += KILN_DOT(line + (x0 + kx * s->dilation_x) * s->input_channels,
                            weights + kx * depth, depth, s->weight_zero_point);
    }
    return sum + outside * s->input_zero_point;
}

KILN_KERNEL void KILN_CONV2D(const struct conv2d_integer_shape *s, const KILN_INPUT *input,
                             const KILN_WEIGHT *weights, const int32_t *bias,
                             const void *requantize, KILN_OUTPUT *output) {
    const int32_t depth = s->input_channels / s->groups;
    const int32_t group_outputs = s->output_channels / s->groups;
    const int32_t window = s->kernel_height * s->kernel_width * depth;
    for (int32_t n = 0; n < s->batch; n++) {
        for (int32_t y = 0; y < s->output_height; y++) {
            const int32_t y0 = y * s->stride_y - s->pad_top;
            const struct kiln_taps rows =
                kiln_taps_inside(y0, s->input_height, s->dilation_y, s->kernel_height);
            for (int32_t x = 0; x < s->output_width; x++) {
                const int32_t x0 = x * s->stride_x - s->pad_left;
                const struct kiln_taps columns =
                    kiln_taps_inside(x0, s->input_width, s->dilation_x, s->kernel_width);
                for (int32_t o = 0; o < s->output_channels; o++) {
                    const int32_t sum =
                        KILN_WINDOW_SUM(s, input + o / group_outputs * depth, weights + o * window,
                                        y0, x0, rows, columns);
                    *output++ = (KILN_OUTPUT)kiln_requantize(
                        sum + bias[o], requantize, o, s->output_channels, s->rounding, s->clamp_low,
                        s->clamp_high, s->output_zero_point);
                }
            }
        }
        input += s->input_height * s->input_width * s->input_channels;
    }
}

#undef KILN_JOIN_
#undef KILN_JOIN
#undef KILN_DOT
#undef KILN_WEIGHT_SUM
#undef KILN_WINDOW_SUM
#undef KILN_CONV2D
#undef KILN_INPUT
#undef KILN_WEIGHT
#undef KILN_OUTPUT
