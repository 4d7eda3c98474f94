/* Scatters that join with what is there: expects KILN_REDUCTION and KILN_JOINED(a, b), and
 * undefines them. */

#define KILN_SCATTER_(operation, reduction, suffix, index)                                         \
    operation##_##reduction##_##suffix##_##index
#define KILN_SCATTER(operation, reduction, suffix, index)                                          \
    KILN_SCATTER_(operation, reduction, suffix, index)

KILN_KERNEL void KILN_SCATTER(scatter_nd, KILN_REDUCTION, KILN_SUFFIX,
                              KILN_INDEX_NAME)(const struct nd_shape *s, const KILN_TYPE *x,
                                               const KILN_INDEX *indices, const KILN_TYPE *updates,
                                               KILN_TYPE *output) {
    if (output != x)
        memcpy(output, x, (size_t)s->batch_elements * sizeof(KILN_TYPE));
    for (int32_t i = 0; i < s->count; i++, indices += s->depth, updates += s->part) {
        KILN_TYPE *part = output + KILN_PASTE2(kiln_nd_offset, KILN_INDEX_NAME)(s, indices);
        for (int32_t j = 0; j < s->part; j++)
            part[j] = KILN_JOINED(part[j], updates[j]);
    }
}

KILN_KERNEL void KILN_SCATTER(scatter_elements, KILN_REDUCTION, KILN_SUFFIX,
                              KILN_INDEX_NAME)(const struct elements_shape *s, const KILN_TYPE *x,
                                               const KILN_INDEX *indices, const KILN_TYPE *updates,
                                               KILN_TYPE *output) {
    const int32_t count = s->extent[s->rank - 1], step = s->stride[s->rank - 1];
    int32_t index[KILN_MAX_RANK] = {0};
    if (output != x)
        memcpy(output, x, (size_t)s->x_elements * sizeof(KILN_TYPE));
    do {
        KILN_TYPE *row = output + kiln_row_offset(s->rank, s->stride, index);
        for (int32_t i = 0; i < count; i++) {
            const int32_t at = i * step + kiln_index(*indices++, s->axis_extent) * s->axis_stride;
            row[at] = KILN_JOINED(row[at], *updates);
            updates++;
        }
    } while (kiln_next_row(s->rank, s->extent, index));
}

#undef KILN_SCATTER
#undef KILN_SCATTER_
#undef KILN_REDUCTION
#undef KILN_JOINED
