/* One transposed convolution; the types come from types/<dtype>.h. Input (iy, ix) reaches output
 * (iy * stride - pad + ky * dilation, ...), so an output asks which inputs reach it. */

/* Adds to `count` sums what the inputs that reach output (y, x) give; weights of the first sum. */
KILN_INLINE void KILN_NAME(transpose_conv2d_gather)(const KILN_SHAPE(transpose_conv2d) * s,
                                                    const KILN_INPUT *image,
                                                    const KILN_WEIGHT *weights, int32_t y,
                                                    int32_t x, KILN_SUM *sum, int32_t count) {
    const int32_t depth = s->input_channels;
    const int32_t window = s->kernel_height * s->kernel_width * depth;
    for (int32_t ky = 0; ky < s->kernel_height; ky++) {
        const int32_t from_y = y + s->pad_top - ky * s->dilation_y;
        const int32_t iy = from_y / s->stride_y;
        if (from_y < 0 || from_y % s->stride_y != 0 || iy >= s->input_height)
            continue;
        for (int32_t kx = 0; kx < s->kernel_width; kx++) {
            const int32_t from_x = x + s->pad_left - kx * s->dilation_x;
            const int32_t ix = from_x / s->stride_x;
            if (from_x < 0 || from_x % s->stride_x != 0 || ix >= s->input_width)
                continue;
            const KILN_INPUT *pixel = image + (iy * s->input_width + ix) * depth;
            const KILN_WEIGHT *tap = weights + (ky * s->kernel_width + kx) * depth;
            for (int32_t j = 0; j < count; j++)
                sum[j] += KILN_DOT(pixel, tap + j * window, depth);
        }
    }
}

KILN_KERNEL void KILN_NAME(transpose_conv2d)(const KILN_SHAPE(transpose_conv2d) * s,
                                             const KILN_INPUT *input, const KILN_WEIGHT *weights,
                                             const KILN_SUM *bias KILN_CONSTANTS,
                                             KILN_OUTPUT *output) {
    const int32_t window = s->kernel_height * s->kernel_width * s->input_channels;
    for (int32_t n = 0; n < s->batch; n++) {
        for (int32_t y = 0; y < s->output_height; y++) {
            for (int32_t x = 0; x < s->output_width; x++) {
                for (int32_t o = 0, count; o < s->output_channels; o += count) {
                    const int32_t rest = s->output_channels - o;
                    count = rest < KILN_TILE ? rest : KILN_TILE;
                    KILN_SUM sum[KILN_TILE];
                    for (int32_t j = 0; j < count; j++)
                        sum[j] = bias[o + j];
                    KILN_NAME(transpose_conv2d_gather)
                    (s, input, weights + o * window, y, x, sum, count);
                    for (int32_t j = 0; j < count; j++)
                        *output++ = (KILN_OUTPUT)KILN_FINISH(sum[j], o + j);
                }
            }
        }
        input += s->input_height * s->input_width * s->input_channels;
    }
}
