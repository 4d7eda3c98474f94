/* select of one element size: expects KILN_NAME and KILN_ELEMENT, and undefines them. */

KILN_KERNEL void KILN_NAME(const struct select_shape *s, const uint8_t *condition, const void *a,
                           const void *b, void *output) {
    const int32_t last = s->rank - 1, count = s->extent[last];
    const int32_t condition_step = s->condition_stride[last];
    const int32_t a_step = s->a_stride[last], b_step = s->b_stride[last];
    KILN_ELEMENT *target = (KILN_ELEMENT *)output;
    int32_t index[KILN_MAX_RANK] = {0};
    do {
        const uint8_t *chooser = condition + kiln_row_offset(s->rank, s->condition_stride, index);
        const KILN_ELEMENT *left =
            (const KILN_ELEMENT *)a + kiln_row_offset(s->rank, s->a_stride, index);
        const KILN_ELEMENT *right =
            (const KILN_ELEMENT *)b + kiln_row_offset(s->rank, s->b_stride, index);
        for (int32_t i = 0; i < count; i++)
            target[i] = chooser[i * condition_step] ? left[i * a_step] : right[i * b_step];
        target += count;
    } while (kiln_next_row(s->rank, s->extent, index));
}

#undef KILN_NAME
#undef KILN_ELEMENT
