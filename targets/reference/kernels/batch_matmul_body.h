/* One batched matrix product; the types come from types/<dtype>.h. Both operands are activations.
 */

KILN_KERNEL void KILN_NAME(batch_matmul)(const KILN_SHAPE(batch_matmul) * s, const KILN_INPUT *a,
                                         const KILN_INPUT *b KILN_CONSTANTS, KILN_OUTPUT *output) {
    int32_t index[KILN_MAX_RANK] = {0};
    do {
        const KILN_INPUT *left = a + kiln_row_offset(s->rank, s->a_stride, index);
        const KILN_INPUT *right = b + kiln_row_offset(s->rank, s->b_stride, index);
        for (int32_t row = 0; row < s->rows; row++, left += s->a_row) {
            if (s->a_depth == 1 && s->b_depth == 1) {
                for (int32_t o = 0; o < s->columns; o++) {
                    const KILN_SUM sum = KILN_DOT_INPUTS(left, right + o * s->b_column, s->depth);
                    *output++ = (KILN_OUTPUT)KILN_FINISH(sum, 0);
                }
                continue;
            }
            for (int32_t o = 0, count; o < s->columns; o += count) {
                count = s->columns - o < KILN_TILE ? s->columns - o : KILN_TILE;
                KILN_SUM sum[KILN_TILE] = {0};
                for (int32_t c = 0; c < s->depth; c++) {
                    const KILN_INPUT value = left[c * s->a_depth];
                    const KILN_INPUT *line = right + c * s->b_depth + o * s->b_column;
                    for (int32_t j = 0; j < count; j++)
                        sum[j] += KILN_PRODUCT(value, line[j * s->b_column]);
                }
                for (int32_t j = 0; j < count; j++)
                    *output++ = (KILN_OUTPUT)KILN_FINISH(sum[j], 0);
            }
        }
    } while (kiln_next_row(s->rank, s->extent, index));
}
