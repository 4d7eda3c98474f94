/* Operators that only move elements, by element size: strided copies, pad, concat, split, gather.
 */
#ifndef REFERENCE_MOVEMENT_H
#define REFERENCE_MOVEMENT_H

#include "memory.h"

#include "reference/kernels/walk.h"

/* The output is walked in order; element strides of the input may be 0 or negative.
 * transpose, slice, tile, broadcast_to, depth_to_space, space_to_depth are all of this kind. */
struct strided_copy_shape {
    int32_t rank; /* at least 1 */
    int32_t extent[KILN_MAX_RANK];
    int32_t stride[KILN_MAX_RANK];
    int32_t offset; /* elements, of the first one read */
};

/* Per axis of the output, the element strides of input and output and the input's extent. Index i
 * of the output reads index map(i - before) of the input. */
enum kiln_pad_mode { KILN_PAD_CONSTANT, KILN_PAD_REFLECT, KILN_PAD_SYMMETRIC, KILN_PAD_EDGE };
struct pad_shape {
    int32_t rank;                  /* at least 1 */
    int32_t mode;                  /* enum kiln_pad_mode */
    int32_t extent[KILN_MAX_RANK]; /* of the output */
    int32_t input_extent[KILN_MAX_RANK];
    int32_t stride[KILN_MAX_RANK]; /* of the input */
    int32_t before[KILN_MAX_RANK];
};

/* Where index i of the padded axis reads, or -1 for the constant. */
KILN_INLINE int32_t kiln_pad_source(int32_t i, int32_t extent, int32_t mode) {
    if (i >= 0 && i < extent)
        return i;
    if (mode == KILN_PAD_CONSTANT)
        return -1;
    if (mode == KILN_PAD_EDGE)
        return i < 0 ? 0 : extent - 1;
    const int32_t mirrored = mode == KILN_PAD_SYMMETRIC;
    return i < 0 ? -i - mirrored : 2 * extent - 2 + mirrored - i;
}

#define KILN_SUFFIX bytes1__reference
#define KILN_ELEMENT uint8_t
#include "reference/kernels/movement_body.h"

#define KILN_SUFFIX bytes2__reference
#define KILN_ELEMENT uint16_t
#include "reference/kernels/movement_body.h"

#define KILN_SUFFIX bytes4__reference
#define KILN_ELEMENT uint32_t
#include "reference/kernels/movement_body.h"

#define KILN_SUFFIX bytes8__reference
#define KILN_ELEMENT uint64_t
#include "reference/kernels/movement_body.h"

/* Rows of bytes from several inputs side by side, or of one input into several outputs; `bytes` has
 * each part's bytes per row. Parts of one row that lie where they belong already are left alone. */
struct parts_shape {
    int32_t rows, count;
};

KILN_INLINE int32_t kiln_row_bytes(const struct parts_shape *s, const int32_t *bytes) {
    int32_t sum = 0;
    for (int32_t part = 0; part < s->count; part++)
        sum += bytes[part];
    return sum;
}

/* b: bytes, the parts, the whole. */
KILN_INLINE void kiln_concat(const struct parts_shape *s, void *const *b) {
    const int32_t *bytes = (const int32_t *)b[0];
    const int32_t stride = kiln_row_bytes(s, bytes);
    char *output = (char *)b[1 + s->count];
    for (int32_t part = 0; part < s->count; output += bytes[part++]) {
        const char *source = (const char *)b[1 + part];
        for (int32_t row = 0; row < s->rows && source != output; row++)
            memcpy(output + row * stride, source + row * bytes[part], (size_t)bytes[part]);
    }
}

/* b: bytes, the whole, the parts. */
KILN_INLINE void kiln_split(const struct parts_shape *s, void *const *b) {
    const int32_t *bytes = (const int32_t *)b[0];
    const int32_t stride = kiln_row_bytes(s, bytes);
    const char *source = (const char *)b[1];
    for (int32_t part = 0; part < s->count; source += bytes[part++]) {
        char *output = (char *)b[2 + part];
        for (int32_t row = 0; row < s->rows && source != output; row++)
            memcpy(output + row * bytes[part], source + row * stride, (size_t)bytes[part]);
    }
}

struct concat_requantize_shape {
    int32_t rows, count;
    int32_t output_zero_point;
};

/* 16-bit parts, each rescaled. b: per part int32 elements per row, zero point, multiplier, shift;
 * the parts; the whole. */
KILN_INLINE void kiln_concat_int16(const struct concat_requantize_shape *s, void *const *b) {
    int16_t *output = (int16_t *)b[1 + s->count];
    for (int32_t row = 0; row < s->rows; row++) {
        const int32_t *entry = (const int32_t *)b[0];
        for (int32_t part = 0; part < s->count; part++, entry += 4) {
            const int16_t *source = (const int16_t *)b[1 + part] + row * entry[0];
            for (int32_t i = 0; i < entry[0]; i++) {
                const int32_t value =
                    kiln_multiply_quantized(source[i] - entry[1], entry[2], entry[3]);
                *output++ = (int16_t)kiln_clamp(value + s->output_zero_point, INT16_MIN, INT16_MAX);
            }
        }
    }
}

/* 8-bit parts, each looked up in a table of its own. b: int32 elements per row; the tables; the
 * parts; the whole. */
KILN_INLINE void kiln_concat_lookup(const struct concat_requantize_shape *s, void *const *b) {
    const int32_t *counts = (const int32_t *)b[0];
    uint8_t *output = (uint8_t *)b[2 + s->count];
    for (int32_t row = 0; row < s->rows; row++) {
        for (int32_t part = 0; part < s->count; part++) {
            const uint8_t *table = (const uint8_t *)b[1] + 256 * part;
            const uint8_t *source = (const uint8_t *)b[2 + part] + row * counts[part];
            for (int32_t i = 0; i < counts[part]; i++)
                *output++ = table[source[i]];
        }
    }
}

/* These take as many buffers as the operator has inputs or outputs. */
#define concat_bytes__reference(shape, ...) kiln_concat(shape, (void *const[]){__VA_ARGS__})
#define concat_int8__reference(shape, ...) kiln_concat_lookup(shape, (void *const[]){__VA_ARGS__})
#define concat_uint8__reference(shape, ...) kiln_concat_lookup(shape, (void *const[]){__VA_ARGS__})
#define concat_int16__reference(shape, ...) kiln_concat_int16(shape, (void *const[]){__VA_ARGS__})
#define split_bytes__reference(shape, ...) kiln_split(shape, (void *const[]){__VA_ARGS__})

/* input (outer, extent, slice_bytes), indices (count) -> output (outer, count, slice_bytes). */
struct gather_shape {
    int32_t outer, extent, count, slice_bytes;
};

#define KILN_GATHER gather_index32__reference
#define KILN_INDEX int32_t
#include "reference/kernels/gather_body.h"

#define KILN_GATHER gather_index64__reference
#define KILN_INDEX int64_t
#include "reference/kernels/gather_body.h"

/* input (batch, input_height, input_width, row): output pixel (y, x) is input (rows[y],
 * columns[x]). */
struct resize_nearest_shape {
    int32_t batch, input_height, input_width, output_height, output_width, pixel_bytes;
};

KILN_KERNEL void resize_nearest_bytes__reference(const struct resize_nearest_shape *s,
                                                 const void *input, const int32_t *rows,
                                                 const int32_t *columns, void *output) {
    const size_t bytes = (size_t)s->pixel_bytes;
    const char *image = (const char *)input;
    char *pixel = (char *)output;
    for (int32_t n = 0; n < s->batch; n++) {
        for (int32_t y = 0; y < s->output_height; y++) {
            const char *line = image + (size_t)(rows[y] * s->input_width) * bytes;
            for (int32_t x = 0; x < s->output_width; x++, pixel += bytes)
                memcpy(pixel, line + (size_t)columns[x] * bytes, bytes);
        }
        image += (size_t)(s->input_height * s->input_width) * bytes;
    }
}

#endif
