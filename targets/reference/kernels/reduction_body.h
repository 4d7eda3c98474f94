/* One reduction: expects KILN_REDUCE (its name), KILN_START and KILN_STEP(sum, x), which it
 * undefines, and KILN_SHAPE, KILN_INPUT, KILN_OUTPUT, KILN_SUM and KILN_FINISH(sum). */

KILN_KERNEL void KILN_REDUCE(const KILN_SHAPE *s, const KILN_INPUT *input, KILN_OUTPUT *output) {
    const int32_t count = s->extent[s->rank - 1], step = s->stride[s->rank - 1];
    const int32_t reduced_count = s->reduced_extent[s->reduced_rank - 1];
    const int32_t reduced_step = s->reduced_stride[s->reduced_rank - 1];
    int32_t index[KILN_MAX_RANK] = {0};
    do {
        const KILN_INPUT *row = input + kiln_row_offset(s->rank, s->stride, index);
        for (int32_t first = 0, width; first < count; first += width) {
            width = count - first < KILN_REDUCE_TILE ? count - first : KILN_REDUCE_TILE;
            KILN_SUM sum[KILN_REDUCE_TILE];
            for (int32_t j = 0; j < width; j++)
                sum[j] = KILN_START;
            int32_t reduced_index[KILN_MAX_RANK] = {0};
            do {
                const KILN_INPUT *source =
                    row + first * step +
                    kiln_row_offset(s->reduced_rank, s->reduced_stride, reduced_index);
                for (int32_t i = 0; i < reduced_count; i++)
                    for (int32_t j = 0; j < width; j++)
                        sum[j] = KILN_STEP(sum[j], source[i * reduced_step + j * step]);
            } while (kiln_next_row(s->reduced_rank, s->reduced_extent, reduced_index));
            for (int32_t j = 0; j < width; j++)
                *output++ = (KILN_OUTPUT)KILN_FINISH(sum[j]);
        }
    } while (kiln_next_row(s->rank, s->extent, index));
}

#undef KILN_REDUCE
#undef KILN_START
#undef KILN_STEP
