/* One search: expects KILN_ARG (its name) and KILN_BETTER(x, best), which it undefines, and
 * KILN_INPUT and KILN_INDEX. */

KILN_KERNEL void KILN_ARG(const struct arg_shape *s, const KILN_INPUT *input, KILN_INDEX *output) {
    for (int32_t outer = 0; outer < s->outer; outer++, input += s->extent * s->inner) {
        for (int32_t inner = 0; inner < s->inner; inner++) {
            KILN_INPUT best = input[inner];
            int32_t place = 0;
            for (int32_t i = 1; i < s->extent; i++) {
                const KILN_INPUT x = input[i * s->inner + inner];
                if (KILN_BETTER(x, best)) {
                    best = x;
                    place = i;
                }
            }
            *output++ = place;
        }
    }
}

#undef KILN_ARG
#undef KILN_BETTER
