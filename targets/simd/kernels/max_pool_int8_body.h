/* Largest of a window of int8 pixels, channels in lanes: included once per instruction set. Expects
 * SIMD(name), SIMD_KERNEL(name, form), and SIMD_BYTES, the bytes of a vector. */

/* SIMD_BYTES channels from `from` on; `pitch` and `step` lead to the next row and column. */
KILN_INLINE SIMD(max_bytes) SIMD(pool_window)(const int8_t *from, int32_t rows, int32_t columns,
                                              int32_t pitch, int32_t step) {
    SIMD(max_bytes) most = SIMD(load_max_bytes)(from);
    for (int32_t ky = 0; ky < rows; ky++) {
        for (int32_t kx = 0; kx < columns; kx++)
            most = SIMD(join_max_bytes)(most, SIMD(load_max_bytes)(from + ky * pitch + kx * step));
    }
    return most;
}

/* The channels of one output pixel. Those after the last whole vector are done over again. */
KILN_INLINE void SIMD(pool_pixel)(const struct simd_max_pool_int8_shape *s, const int8_t *from,
                                  int32_t rows, int32_t columns, int8_t *to) {
    const int32_t step = s->dilation_x * s->input_channels;
    const int32_t pitch = s->dilation_y * s->input_width * s->input_channels;
    const int32_t last = s->input_channels - SIMD_BYTES;
    for (int32_t c = 0;;) {
        SIMD(max_bytes) most = SIMD(pool_window)(from + c, rows, columns, pitch, step);
        SIMD(store_max_bytes)(to + c, most, s->clamp_low, s->clamp_high);
        if (c == last)
            return;
        c = c + SIMD_BYTES < last ? c + SIMD_BYTES : last;
    }
}

KILN_KERNEL void SIMD_KERNEL(max_pool2d_int8, )(const struct simd_max_pool_int8_shape *s,
                                                const int8_t *input, int8_t *output) {
    for (int32_t n = 0; n < s->batch; n++) {
        for (int32_t y = 0; y < s->output_height; y++) {
            const int32_t y0 = y * s->stride_y - s->pad_top;
            const struct kiln_taps rows =
                kiln_taps_inside(y0, s->input_height, s->dilation_y, s->kernel_height);
            const int8_t *row =
                input + (y0 + rows.begin * s->dilation_y) * s->input_width * s->input_channels;
            for (int32_t x = 0; x < s->output_width; x++, output += s->input_channels) {
                const int32_t x0 = x * s->stride_x - s->pad_left;
                const struct kiln_taps columns =
                    kiln_taps_inside(x0, s->input_width, s->dilation_x, s->kernel_width);
                const int8_t *from = row + (x0 + columns.begin * s->dilation_x) * s->input_channels;
                SIMD(pool_pixel)
                (s, from, rows.end - rows.begin, columns.end - columns.begin, output);
            }
        }
        input += s->input_height * s->input_width * s->input_channels;
    }
}

#undef SIMD_BYTES
