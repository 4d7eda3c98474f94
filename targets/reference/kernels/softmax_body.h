/* One 8-bit softmax: expects KILN_SOFTMAX (its name), KILN_TYPE and KILN_LEAST (its lowest value),
 * and undefines them. */

KILN_KERNEL void KILN_SOFTMAX(const struct softmax_integer_shape *s, const KILN_TYPE *input,
                              const int32_t *exponentials, KILN_TYPE *output) {
    for (int32_t outer = 0; outer < s->outer; outer++) {
        for (int32_t inner = 0; inner < s->inner; inner++) {
            const int32_t first = outer * s->extent * s->inner + inner;
            const KILN_TYPE *x = input + first;
            int32_t largest = x[0];
            for (int32_t i = 1; i < s->extent; i++)
                largest = x[i * s->inner] > largest ? x[i * s->inner] : largest;
            int32_t sum = 0; /* 12 integer bits */
            for (int32_t i = 0; i < s->extent; i++)
                sum += kiln_rounding_shift_right(exponentials[largest - x[i * s->inner]], 12);
            const int32_t headroom = 32 - kiln_bit_length((uint32_t)sum);
            const int32_t fraction = (int32_t)(((uint32_t)sum << headroom) - 0x80000000u);
            const int32_t reciprocal = kiln_reciprocal_of_one_plus(fraction);
            const int32_t shift = 12 - headroom + 31 - 8; /* above 31 nothing is left */
            for (int32_t i = 0; i < s->extent; i++) {
                const int32_t product = kiln_doubling_high_multiply(
                    reciprocal, exponentials[largest - x[i * s->inner]]);
                const int32_t value =
                    (shift > 31 ? 0 : kiln_rounding_shift_right(product, shift)) + KILN_LEAST;
                output[first + i * s->inner] =
                    (KILN_TYPE)kiln_clamp(value, KILN_LEAST, KILN_LEAST + 255);
            }
        }
    }
}

#undef KILN_SOFTMAX
#undef KILN_TYPE
#undef KILN_LEAST
