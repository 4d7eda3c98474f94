/* The loops of a depthwise convolution: a ring of prepared input rows, and one output row at a
 * time from them.
 *
 * A template, included once per instruction set and element type. The including file defines
 *   LINE(name)     the prefix of this kernel
 *   LINE_SHAPE     the struct of the shape, with SIMD_DEPTHWISE_MEMBERS
 *   LINE_ELEMENT   the type of an activation; LINE_PAD(shape) is what padding reads as one
 * and the functions
 *   LINE(prepare)(shape, image, y, x0, pixels, line, slot)  fills a slot of the ring from row y
 *   LINE(row)(shape, operands, slots, pixels, to)           makes an output row from the slots */

struct LINE(operands) {
    const void *weights, *bias, *scale;
};

KILN_INLINE void LINE(prepare)(const struct LINE_SHAPE *s, const LINE_ELEMENT *image, int32_t y,
                               int32_t x0, int32_t pixels, LINE_ELEMENT *line, LINE_ELEMENT *slot);
KILN_INLINE void LINE(row)(const struct LINE_SHAPE *s, struct LINE(operands) operands,
                           const LINE_ELEMENT *const *slots, int32_t pixels, LINE_ELEMENT *to);

/* Where tap kx of the first output pixel stands among the phases that LINE(split) makes. */
KILN_INLINE int32_t LINE(tap_offset)(const struct LINE_SHAPE *s, int32_t kx) {
    const int32_t offset = kx * s->dilation_x;
    return offset % s->stride_x * s->line_elements + offset / s->stride_x * s->channels;
}

/* The padded row that starts at pixel x, in `stride_x` phases: phase p has the pixels p, p +
 * stride_x, ... so that the taps of neighbouring outputs are neighbours. */
KILN_INLINE void LINE(split)(const struct LINE_SHAPE *s, const LINE_ELEMENT *row, int32_t x,
                             int32_t pixels, LINE_ELEMENT *to) {
    const int32_t reach = (s->kernel_width - 1) * s->dilation_x;
    const int32_t phases = s->stride_x < reach + 1 ? s->stride_x : reach + 1;
    const int32_t count = pixels + reach / s->stride_x, channels = s->channels;
    const LINE_ELEMENT pad = (LINE_ELEMENT)LINE_PAD(s);
    for (int32_t p = 0; p < phases; p++, to += s->line_elements) {
        if (s->stride_x == 1) {
            int32_t begin = x < 0 ? -x : 0, end = s->input_width - x;
            if (begin > count)
                begin = count;
            if (end > count)
                end = count;
            if (end < begin)
                end = begin;
            for (int32_t i = 0; i < begin * channels; i++)
                to[i] = pad;
            SIMD(copy)
            (to + begin * channels, row + (x + begin) * channels,
             (end - begin) * channels * (int32_t)sizeof *to);
            for (int32_t i = end * channels; i < count * channels; i++)
                to[i] = pad;
            continue;
        }
        for (int32_t j = 0, at = x + p; j < count; j++, at += s->stride_x) {
            LINE_ELEMENT *pixel = to + j * channels;
            if (at >= 0 && at < s->input_width) {
                SIMD(copy)(pixel, row + at * channels, channels * (int32_t)sizeof *to);
            } else {
                for (int32_t i = 0; i < channels; i++)
                    pixel[i] = pad;
            }
        }
    }
}

/* `pixels` columns of an image, from pixel x of the output on, from top to bottom. */
KILN_INLINE void LINE(columns)(const struct LINE_SHAPE *s, const LINE_ELEMENT *image,
                               struct LINE(operands) operands, int32_t x, int32_t pixels,
                               LINE_ELEMENT *line, LINE_ELEMENT *ring, LINE_ELEMENT *to) {
    const int32_t reach = (s->kernel_height - 1) * s->dilation_y, slots = reach + 1;
    const LINE_ELEMENT *rows[SIMD_DEPTHWISE_ROWS];
    int32_t next = -s->pad_top; /* the row that is prepared next */
    for (int32_t y = 0; y < s->output_height; y++) {
        const int32_t first = y * s->stride_y - s->pad_top;
        if (next < first)
            next = first;
        for (; next <= first + reach; next++) {
            LINE(prepare)
            (s, image, next, x * s->stride_x - s->pad_left, pixels, line,
             ring + (next + s->pad_top) % slots * s->slot_elements);
        }
        SIMD_UNROLL
        for (int32_t ky = 0; ky < s->kernel_height; ky++) {
            const int32_t slot = (first + ky * s->dilation_y + s->pad_top) % slots;
            rows[ky] = ring + slot * s->slot_elements;
        }
        LINE(row)(s, operands, rows, pixels, to + (y * s->output_width + x) * s->channels);
    }
}

KILN_INLINE void LINE(convolution)(const struct LINE_SHAPE *s, const LINE_ELEMENT *input,
                                   struct LINE(operands) operands, LINE_ELEMENT *line,
                                   LINE_ELEMENT *ring, LINE_ELEMENT *output) {
    const int32_t chunk = s->pixels_per_block;
    for (int32_t n = 0; n < s->batch; n++) {
        int32_t x = 0;
        for (; x + chunk <= s->output_width; x += chunk)
            LINE(columns)(s, input, operands, x, chunk, line, ring, output);
        if (s->output_width % chunk != 0) {
            LINE(columns)
            (s, input, operands, x, s->output_width % chunk, line, ring, output);
        }
        input += s->input_height * s->input_width * s->channels;
        output += s->output_height * s->output_width * s->channels;
    }
}
