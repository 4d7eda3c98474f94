/* One pooling: expects KILN_POOL (its name), KILN_START, KILN_JOIN(sum, x) and KILN_FINISH(sum,
 * inside), where `taps` is the window's size; KILN_SHAPE, KILN_TYPE, KILN_SUM and KILN_CLAMP stay
 * defined for the next. */

KILN_KERNEL void KILN_POOL(const KILN_SHAPE *s, const KILN_TYPE *input, KILN_TYPE *output) {
    const int32_t channels = s->input_channels;
    const int32_t taps = s->kernel_height * s->kernel_width;
    (void)taps;
    for (int32_t n = 0; n < s->batch; n++) {
        for (int32_t y = 0; y < s->output_height; y++) {
            const int32_t y0 = y * s->stride_y - s->pad_top;
            const struct kiln_taps rows =
                kiln_taps_inside(y0, s->input_height, s->dilation_y, s->kernel_height);
            for (int32_t x = 0; x < s->output_width; x++) {
                const int32_t x0 = x * s->stride_x - s->pad_left;
                const struct kiln_taps columns =
                    kiln_taps_inside(x0, s->input_width, s->dilation_x, s->kernel_width);
                const int32_t inside = (rows.end - rows.begin) * (columns.end - columns.begin);
                const int32_t divisor = inside > 0 ? inside : 1;
                (void)divisor;
                for (int32_t c = 0, count; c < channels; c += count) {
                    count = channels - c < KILN_POOL_TILE ? channels - c : KILN_POOL_TILE;
                    KILN_SUM sum[KILN_POOL_TILE];
                    for (int32_t j = 0; j < count; j++)
                        sum[j] = KILN_START;
                    for (int32_t ky = rows.begin; ky < rows.end; ky++) {
                        const int32_t line = (y0 + ky * s->dilation_y) * s->input_width;
                        for (int32_t kx = columns.begin; kx < columns.end; kx++) {
                            const KILN_TYPE *pixel =
                                input + (line + x0 + kx * s->dilation_x) * channels + c;
                            for (int32_t j = 0; j < count; j++)
                                sum[j] = KILN_JOIN(sum[j], pixel[j]);
                        }
                    }
                    for (int32_t j = 0; j < count; j++)
                        *output++ = (KILN_TYPE)KILN_CLAMP(KILN_FINISH(sum[j], divisor));
                }
            }
        }
        input += s->input_height * s->input_width * channels;
    }
}

#undef KILN_POOL
#undef KILN_START
#undef KILN_JOIN
#undef KILN_FINISH
