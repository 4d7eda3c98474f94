/* One bilinear resizing: expects KILN_RESIZE (its name), KILN_TYPE, KILN_WEIGHT, KILN_SUM and
 * KILN_FINISH(sum), and undefines them. */

KILN_KERNEL void KILN_RESIZE(const struct resize_bilinear_shape *s, const KILN_TYPE *input,
                             const int32_t *rows, const KILN_WEIGHT *row_weights,
                             const int32_t *columns, const KILN_WEIGHT *column_weights,
                             KILN_TYPE *output) {
    const int32_t pitch = s->input_width * s->channels;
    for (int32_t n = 0; n < s->batch; n++, input += s->input_height * pitch) {
        for (int32_t y = 0; y < s->output_height; y++) {
            const KILN_TYPE *upper_row = input + rows[y] * pitch;
            const KILN_TYPE *lower_row = input + rows[s->output_height + y] * pitch;
            const KILN_SUM top = row_weights[y], bottom = row_weights[s->output_height + y];
            for (int32_t x = 0; x < s->output_width; x++) {
                const int32_t near = columns[x] * s->channels;
                const int32_t far = columns[s->output_width + x] * s->channels;
                const KILN_SUM left = column_weights[x];
                const KILN_SUM right = column_weights[s->output_width + x];
                for (int32_t c = 0; c < s->channels; c++) {
                    KILN_SUM sum = upper_row[near + c] * top * left;
                    sum += lower_row[near + c] * bottom * left;
                    sum += upper_row[far + c] * top * right;
                    sum += lower_row[far + c] * bottom * right;
                    *output++ = (KILN_TYPE)KILN_FINISH(sum);
                }
            }
        }
    }
}

#undef KILN_RESIZE
#undef KILN_TYPE
#undef KILN_WEIGHT
#undef KILN_SUM
#undef KILN_FINISH
