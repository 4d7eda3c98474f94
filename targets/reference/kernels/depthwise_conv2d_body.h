/* One depthwise convolution; the types come from types/<dtype>.h. */

KILN_KERNEL void KILN_NAME(depthwise_conv2d)(const KILN_SHAPE(depthwise_conv2d) * s,
                                             const KILN_INPUT *input, const KILN_WEIGHT *weights,
                                             const KILN_SUM *bias KILN_CONSTANTS,
                                             KILN_OUTPUT *output) {
    const int32_t channels = s->output_channels;
    const int32_t multiplier = channels / s->input_channels;
    /* A tile lies along the channels, or along the outputs of one channel. */
    const int32_t step = multiplier == 1;
    const int32_t width = multiplier == 1 ? channels : multiplier;
    for (int32_t n = 0; n < s->batch; n++) {
        for (int32_t y = 0; y < s->output_height; y++) {
            const int32_t y0 = y * s->stride_y - s->pad_top;
            const struct kiln_taps rows =
                kiln_taps_inside(y0, s->input_height, s->dilation_y, s->kernel_height);
            for (int32_t x = 0; x < s->output_width; x++) {
                const int32_t x0 = x * s->stride_x - s->pad_left;
                const struct kiln_taps columns =
                    kiln_taps_inside(x0, s->input_width, s->dilation_x, s->kernel_width);
                for (int32_t o = 0, count; o < channels; o += count) {
                    const int32_t rest = width - o % width;
                    count = rest < KILN_TILE ? rest : KILN_TILE;
                    KILN_SUM sum[KILN_TILE];
                    for (int32_t j = 0; j < count; j++)
                        sum[j] = bias[o + j];
                    for (int32_t ky = rows.begin; ky < rows.end; ky++) {
                        const int32_t line = (y0 + ky * s->dilation_y) * s->input_width;
                        for (int32_t kx = columns.begin; kx < columns.end; kx++) {
                            const KILN_INPUT *pixel =
                                input + (line + x0 + kx * s->dilation_x) * s->input_channels +
                                o / multiplier;
                            const KILN_WEIGHT *weight =
                                weights + (ky * s->kernel_width + kx) * channels + o;
                            for (int32_t j = 0; j < count; j++)
                                sum[j] += KILN_PRODUCT(pixel[j * step], weight[j]);
                        }
                    }
                    for (int32_t j = 0; j < count; j++)
                        *output++ = (KILN_OUTPUT)KILN_FINISH(sum[j], o + j);
                }
            }
        }
        input += s->input_height * s->input_width * s->input_channels;
    }
}
