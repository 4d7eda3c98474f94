/* One convolution; the types come from types/<dtype>.h. */

/* Input times weight over the window at (y0, x0) of one group's channels. */
KILN_INLINE KILN_SUM KILN_NAME(conv2d_window)(const KILN_SHAPE(conv2d) * s, const KILN_INPUT *image,
                                              const KILN_WEIGHT *weights, int32_t y0, int32_t x0,
                                              struct kiln_taps rows, struct kiln_taps columns) {
    const int32_t depth = s->input_channels / s->groups;
    const int32_t row = s->kernel_width * depth;
    const int32_t inside = columns.end - columns.begin;
    KILN_SUM sum = 0;
    for (int32_t ky = 0; ky < s->kernel_height; ky++, weights += row) {
        if (ky < rows.begin || ky >= rows.end || inside == 0) {
            sum += KILN_OUTSIDE(weights, row);
            continue;
        }
        const int32_t line = ((y0 + ky * s->dilation_y) * s->input_width + x0) * s->input_channels;
        sum += KILN_OUTSIDE(weights, columns.begin * depth);
        sum += KILN_OUTSIDE(weights + columns.end * depth, row - columns.end * depth);
        if (s->dilation_x == 1 && s->groups == 1) {
            /* The taps inside are one run of memory. */
            const int32_t skipped = columns.begin * depth;
            sum += KILN_DOT(image + (line + skipped), weights + skipped, inside * depth);
            continue;
        }
        for (int32_t kx = columns.begin; kx < columns.end; kx++)
            sum += KILN_DOT(image + (line + kx * s->dilation_x * s->input_channels),
                            weights + kx * depth, depth);
    }
    return sum;
}

KILN_KERNEL void KILN_NAME(conv2d)(const KILN_SHAPE(conv2d) * s, const KILN_INPUT *input,
                                   const KILN_WEIGHT *weights, const KILN_SUM *bias KILN_CONSTANTS,
                                   KILN_OUTPUT *output) {
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
                    const KILN_SUM sum = bias[o] + KILN_NAME(conv2d_window)(
                                                       s, input + o / group_outputs * depth,
                                                       weights + o * window, y0, x0, rows, columns);
                    *output++ = (KILN_OUTPUT)KILN_FINISH(sum, o);
                }
            }
        }
        input += s->input_height * s->input_width * s->input_channels;
    }
}
