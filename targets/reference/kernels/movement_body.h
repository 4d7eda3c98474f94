/* Element moves of one size: expects KILN_SUFFIX and KILN_ELEMENT, and undefines them. */

#define KILN_JOIN_(a, b) a##_##b
#define KILN_JOIN(a, b) KILN_JOIN_(a, b)

KILN_KERNEL void KILN_JOIN(strided_copy, KILN_SUFFIX)(const struct strided_copy_shape *s,
                                                      const void *input, void *output) {
    const KILN_ELEMENT *source = (const KILN_ELEMENT *)input + s->offset;
    KILN_ELEMENT *target = (KILN_ELEMENT *)output;
    const int32_t count = s->extent[s->rank - 1], step = s->stride[s->rank - 1];
    int32_t index[KILN_MAX_RANK] = {0};
    do {
        const KILN_ELEMENT *row = source + kiln_row_offset(s->rank, s->stride, index);
        if (step == 1)
            memcpy(target, row, (size_t)count * sizeof(KILN_ELEMENT));
        else
            for (int32_t i = 0; i < count; i++)
                target[i] = row[i * step];
        target += count;
    } while (kiln_next_row(s->rank, s->extent, index));
}

KILN_KERNEL void KILN_JOIN(pad, KILN_SUFFIX)(const struct pad_shape *s, const void *input,
                                             const void *value, void *output) {
    const KILN_ELEMENT fill = *(const KILN_ELEMENT *)value;
    const int32_t last = s->rank - 1;
    const int32_t count = s->extent[last], before = s->before[last];
    const int32_t inside = s->input_extent[last];
    KILN_ELEMENT *target = (KILN_ELEMENT *)output;
    int32_t index[KILN_MAX_RANK] = {0};
    do {
        int32_t offset = 0;
        int is_outside = 0;
        for (int32_t axis = 0; axis < last; axis++) {
            const int32_t at =
                kiln_pad_source(index[axis] - s->before[axis], s->input_extent[axis], s->mode);
            is_outside |= at < 0;
            offset += at * s->stride[axis];
        }
        if (is_outside) {
            for (int32_t i = 0; i < count; i++)
                target[i] = fill;
        } else {
            const KILN_ELEMENT *row = (const KILN_ELEMENT *)input + offset;
            for (int32_t i = 0; i < before; i++) {
                const int32_t at = kiln_pad_source(i - before, inside, s->mode);
                target[i] = at < 0 ? fill : row[at];
            }
            memcpy(target + before, row, (size_t)inside * sizeof(KILN_ELEMENT));
            for (int32_t i = before + inside; i < count; i++) {
                const int32_t at = kiln_pad_source(i - before, inside, s->mode);
                target[i] = at < 0 ? fill : row[at];
            }
        }
        target += count;
    } while (kiln_next_row(s->rank, s->extent, index));
}

#undef KILN_JOIN_
#undef KILN_JOIN
#undef KILN_SUFFIX
#undef KILN_ELEMENT
