/* One binary operator with broadcasting: expects KILN_OPERATION and KILN_VALUE(a, b), which may use
 * the shape `s`. KILN_SHAPE, KILN_SUFFIX, KILN_INPUT and KILN_OUTPUT stay defined for the next.
 * Where KILN_EACH(operation, value) is defined, that stands in place of a kernel; the operands are
 * then called `left` and `right`. */

#ifdef KILN_EACH
KILN_EACH(KILN_OPERATION, KILN_VALUE(left, right))
#else

#define KILN_JOIN_(a, b) a##_##b
#define KILN_JOIN(a, b) KILN_JOIN_(a, b)

KILN_KERNEL void KILN_JOIN(KILN_OPERATION, KILN_SUFFIX)(const struct KILN_SHAPE *s,
                                                        const KILN_INPUT *a, const KILN_INPUT *b,
                                                        KILN_OUTPUT *output) {
    const int32_t count = s->extent[s->rank - 1];
    const int32_t a_step = s->a_stride[s->rank - 1], b_step = s->b_stride[s->rank - 1];
    int32_t index[KILN_MAX_RANK] = {0};
    do {
        const KILN_INPUT *left = a + kiln_row_offset(s->rank, s->a_stride, index);
        const KILN_INPUT *right = b + kiln_row_offset(s->rank, s->b_stride, index);
        /* A step is 0 or 1, and not 0 for both. */
        if (a_step == b_step) {
            KILN_INDEPENDENT
            for (int32_t i = 0; i < count; i++)
                output[i] = KILN_VALUE(left[i], right[i]);
        } else if (b_step == 0) {
            const KILN_INPUT one = *right;
            KILN_INDEPENDENT
            for (int32_t i = 0; i < count; i++)
                output[i] = KILN_VALUE(left[i], one);
        } else {
            const KILN_INPUT one = *left;
            KILN_INDEPENDENT
            for (int32_t i = 0; i < count; i++)
                output[i] = KILN_VALUE(one, right[i]);
        }
        output += count;
    } while (kiln_next_row(s->rank, s->extent, index));
}

#undef KILN_JOIN_
#undef KILN_JOIN
#endif

#undef KILN_OPERATION
#undef KILN_VALUE
