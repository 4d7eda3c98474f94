/* Gathers and plain scatters of elements of one size: expects KILN_SUFFIX and KILN_TYPE, and
 * undefines them. */

KILN_KERNEL void KILN_PASTE3(gather_nd, KILN_SUFFIX,
                             KILN_INDEX_NAME)(const struct nd_shape *s, const void *x,
                                              const KILN_INDEX *indices, void *output) {
    const KILN_TYPE *source = (const KILN_TYPE *)x;
    KILN_TYPE *target = (KILN_TYPE *)output;
    for (int32_t batch = 0; batch < s->batches; batch++, source += s->batch_elements)
        for (int32_t i = 0; i < s->count; i++, indices += s->depth, target += s->part)
            memcpy(target, source + KILN_PASTE2(kiln_nd_offset, KILN_INDEX_NAME)(s, indices),
                   (size_t)s->part * sizeof(KILN_TYPE));
}

KILN_KERNEL void KILN_PASTE3(scatter_nd, KILN_SUFFIX,
                             KILN_INDEX_NAME)(const struct nd_shape *s, const void *x,
                                              const KILN_INDEX *indices, const void *updates,
                                              void *output) {
    const KILN_TYPE *source = (const KILN_TYPE *)updates;
    KILN_TYPE *target = (KILN_TYPE *)output;
    if (output != x)
        memcpy(output, x, (size_t)s->batch_elements * sizeof(KILN_TYPE));
    for (int32_t i = 0; i < s->count; i++, indices += s->depth, source += s->part)
        memcpy(target + KILN_PASTE2(kiln_nd_offset, KILN_INDEX_NAME)(s, indices), source,
               (size_t)s->part * sizeof(KILN_TYPE));
}

KILN_KERNEL void KILN_PASTE3(gather_elements, KILN_SUFFIX,
                             KILN_INDEX_NAME)(const struct elements_shape *s, const void *x,
                                              const KILN_INDEX *indices, void *output) {
    KILN_TYPE *target = (KILN_TYPE *)output;
    const int32_t count = s->extent[s->rank - 1], step = s->stride[s->rank - 1];
    int32_t index[KILN_MAX_RANK] = {0};
    do {
        const KILN_TYPE *row = (const KILN_TYPE *)x + kiln_row_offset(s->rank, s->stride, index);
        for (int32_t i = 0; i < count; i++)
            *target++ = row[i * step + kiln_index(*indices++, s->axis_extent) * s->axis_stride];
    } while (kiln_next_row(s->rank, s->extent, index));
}

KILN_KERNEL void KILN_PASTE3(scatter_elements, KILN_SUFFIX,
                             KILN_INDEX_NAME)(const struct elements_shape *s, const void *x,
                                              const KILN_INDEX *indices, const void *updates,
                                              void *output) {
    const KILN_TYPE *source = (const KILN_TYPE *)updates;
    const int32_t count = s->extent[s->rank - 1], step = s->stride[s->rank - 1];
    int32_t index[KILN_MAX_RANK] = {0};
    if (output != x)
        memcpy(output, x, (size_t)s->x_elements * sizeof(KILN_TYPE));
    do {
        KILN_TYPE *row = (KILN_TYPE *)output + kiln_row_offset(s->rank, s->stride, index);
        for (int32_t i = 0; i < count; i++)
            row[i * step + kiln_index(*indices++, s->axis_extent) * s->axis_stride] = *source++;
    } while (kiln_next_row(s->rank, s->extent, index));
}

#undef KILN_SUFFIX
#undef KILN_TYPE
