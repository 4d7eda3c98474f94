/* The loops around a tile of a convolution: staging, blocks of rows, pixels and channels.
 *
 * A template, included once per instruction set and element type. The including file defines
 *   SIMD(name)       the prefix of the instruction set
 *   TILE(name)       the prefix of this kernel
 *   TILE_SHAPE       the struct of the shape, with SIMD_CONV2D_MEMBERS
 *   TILE_ELEMENT     the type of an activation; TILE_PAD(shape) is what padding reads as one
 *   TILE_STEP        inputs that one step of the inner loop takes; runs are padded to it
 *   TILE_ROWS(columns)  pixels of a full tile of so many vectors of channels
 *   TILE_COLUMNS     vectors of channels of a full tile, at most 4
 * and the function TILE(tile)(shape, operands, rows, columns, from, pitch, channel, to, valid). */

/* Everything but the activations. Weights are laid out for each block of channels as
 *   [tap row][run of a tap row][step][column][lane][TILE_STEP]
 * where a run is what lies together in memory: all taps of the row, or one if dilated. */
struct TILE(operands) {
    const TILE_ELEMENT *weights;
    const void *bias, *scale;
};

/* Inputs of a run, and the steps that it takes. */
KILN_INLINE int32_t TILE(run_steps)(const struct TILE_SHAPE *s) {
    int32_t taps = s->dilation_x == 1 ? s->kernel_width : 1;
    return (taps * s->input_channels + TILE_STEP - 1) / TILE_STEP;
}

KILN_INLINE int32_t TILE(depth)(const struct TILE_SHAPE *s) {
    int32_t runs = s->dilation_x == 1 ? 1 : s->kernel_width;
    return s->kernel_height * runs * TILE(run_steps)(s) * TILE_STEP;
}

KILN_INLINE void TILE(tile)(const struct TILE_SHAPE *s, struct TILE(operands) operands,
                            int32_t rows, int32_t columns, const TILE_ELEMENT *from, int32_t pitch,
                            int32_t channel, TILE_ELEMENT *to, int32_t valid);

/* `count` pixels of one output row, in tiles of `rows` pixels or, at the end, one less each: the
 * row is cut as evenly as it goes. */
KILN_INLINE void TILE(span)(const struct TILE_SHAPE *s, struct TILE(operands) operands,
                            int32_t columns, const TILE_ELEMENT *from, int32_t pitch, int32_t count,
                            int32_t channel, TILE_ELEMENT *to, int32_t valid) {
    const int32_t step_in = s->stride_x * s->input_channels, step_out = s->output_channels;
    const int32_t most = TILE_ROWS(columns);
    int32_t rows = most, large = count / most;
    if (__builtin_constant_p(count)) {
        int32_t tiles = (count + most - 1) / most;
        rows = (count + tiles - 1) / tiles;
        large = count - tiles * (rows - 1);
    }
    int32_t done = 0;
    for (int32_t i = 0; i < large; i++, done += rows) {
        TILE(tile)
        (s, operands, rows, columns, from + done * step_in, pitch, channel, to + done * step_out,
         valid);
    }
    const int32_t rest = __builtin_constant_p(count) ? rows - 1 : 1;
    for (; rest > 0 && done < count; done += rest) {
        TILE(tile)
        (s, operands, rest, columns, from + done * step_in, pitch, channel, to + done * step_out,
         valid);
    }
}

/* All pixels of a block for the channels from `channel` on, `columns` vectors of them. */
KILN_INLINE void TILE(channels)(const struct TILE_SHAPE *s, struct TILE(operands) operands,
                                int32_t columns, const TILE_ELEMENT *from, int32_t pitch,
                                int32_t rows, int32_t pixels, int32_t channel, int32_t valid,
                                TILE_ELEMENT *to) {
    operands.weights += (size_t)channel * (size_t)TILE(depth)(s);
    for (int32_t y = 0; y < rows; y++) {
        TILE(span)
        (s, operands, columns, from + y * s->stride_y * pitch, pitch, pixels, channel,
         to + y * s->output_width * s->output_channels + channel, valid);
    }
}

KILN_INLINE void TILE(block)(const struct TILE_SHAPE *s, struct TILE(operands) operands,
                             const TILE_ELEMENT *from, int32_t pitch, int32_t rows, int32_t pixels,
                             TILE_ELEMENT *to) {
    const int32_t width = TILE_COLUMNS * SIMD_LANES;
    const int32_t whole = s->output_channels / width * width;
    for (int32_t channel = 0; channel < whole; channel += width)
        TILE(channels)(s, operands, TILE_COLUMNS, from, pitch, rows, pixels, channel, width, to);
    const int32_t rest = s->output_channels - whole;
    switch ((rest + SIMD_LANES - 1) / SIMD_LANES) {
    case 1:
        TILE(channels)(s, operands, 1, from, pitch, rows, pixels, whole, rest, to);
        break;
#if TILE_COLUMNS > 1
    case 2:
        TILE(channels)(s, operands, 2, from, pitch, rows, pixels, whole, rest, to);
        break;
#endif
#if TILE_COLUMNS > 2
    case 3:
        TILE(channels)(s, operands, 3, from, pitch, rows, pixels, whole, rest, to);
        break;
#endif
#if TILE_COLUMNS > 3
    case 4:
        TILE(channels)(s, operands, 4, from, pitch, rows, pixels, whole, rest, to);
        break;
#endif
    default:
        break;
    }
}

/* Copies the input rows from y0 on to scratch, padded on all sides. */
KILN_INLINE void TILE(stage)(const struct TILE_SHAPE *s, const TILE_ELEMENT *image, int32_t y0,
                             int32_t rows, TILE_ELEMENT *scratch) {
    const int32_t pitch = s->staged_width * s->input_channels;
    const int32_t before = s->pad_left * s->input_channels;
    const int32_t row = s->input_width * s->input_channels;
    const int32_t inside = row < pitch - before ? row : pitch - before;
    for (int32_t y = y0; y < y0 + rows; y++, scratch += pitch) {
        const int32_t exists = y >= 0 && y < s->input_height;
        const int32_t begin = exists ? before : pitch, end = exists ? before + inside : pitch;
        for (int32_t i = 0; i < begin; i++)
            scratch[i] = (TILE_ELEMENT)TILE_PAD(s);
        if (exists)
            SIMD(copy)(scratch + begin, image + y * row, inside * (int32_t)sizeof *scratch);
        for (int32_t i = end; i < pitch; i++)
            scratch[i] = (TILE_ELEMENT)TILE_PAD(s);
    }
}

KILN_INLINE void TILE(convolution)(const struct TILE_SHAPE *s, const TILE_ELEMENT *input,
                                   struct TILE(operands) operands, TILE_ELEMENT *scratch,
                                   TILE_ELEMENT *output) {
    const int32_t span_rows = (s->kernel_height - 1) * s->dilation_y + 1;
    const int32_t pitch = (s->staged ? s->staged_width : s->input_width) * s->input_channels;
    for (int32_t n = 0; n < s->batch; n++) {
        for (int32_t y = 0; y < s->output_height; y += s->rows_per_block) {
            const int32_t left = s->output_height - y;
            const int32_t rows = left < s->rows_per_block ? left : s->rows_per_block;
            const int32_t y0 = y * s->stride_y - s->pad_top;
            const TILE_ELEMENT *from = input + (s->staged ? 0 : y0 * pitch);
            if (s->staged) {
                TILE(stage)(s, input, y0, (rows - 1) * s->stride_y + span_rows, scratch);
                from = scratch;
            }
            TILE_ELEMENT *to = output + y * s->output_width * s->output_channels;
            const int32_t chunk = s->pixels_per_block;
            int32_t x = 0;
            for (; x + chunk <= s->output_width; x += chunk) {
                TILE(block)
                (s, operands, from + x * s->stride_x * s->input_channels, pitch, rows, chunk,
                 to + x * s->output_channels);
            }
            if (s->output_width % chunk != 0) {
                TILE(block)
                (s, operands, from + x * s->stride_x * s->input_channels, pitch, rows,
                 s->output_width % chunk, to + x * s->output_channels);
            }
        }
        input += s->input_height * s->input_width * s->input_channels;
        output += s->output_height * s->output_width * s->output_channels;
    }
}
