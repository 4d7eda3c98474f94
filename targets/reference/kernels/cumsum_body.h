/* Sums so far of one type: expects KILN_TYPE, KILN_WRAP (in which it adds) and KILN_DTYPE, and
 * undefines them. */

KILN_KERNEL void KILN_PASTE2(cumsum, KILN_DTYPE)(const struct cumsum_shape *s,
                                                 const KILN_TYPE *input, KILN_TYPE *output) {
    for (int32_t outer = 0; outer < s->outer; outer++) {
        for (int32_t inner = 0; inner < s->inner; inner++) {
            KILN_TYPE sum = 0;
            for (int32_t i = 0; i < s->extent; i++) {
                const int32_t at = (s->reverse ? s->extent - 1 - i : i) * s->inner + inner;
                const KILN_TYPE before = sum;
                sum = (KILN_TYPE)((KILN_WRAP)sum + (KILN_WRAP)input[at]);
                output[at] = s->exclusive ? before : sum;
            }
        }
        input += s->extent * s->inner;
        output += s->extent * s->inner;
    }
}

#undef KILN_TYPE
#undef KILN_WRAP
#undef KILN_DTYPE
