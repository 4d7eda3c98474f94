/* log_softmax and l2_normalization of one 8-bit type: expects KILN_SUFFIX, KILN_TYPE, KILN_LEAST
 * and KILN_MOST, and undefines them. */

#define KILN_JOIN_(a, b) a##_##b
#define KILN_JOIN(a, b) KILN_JOIN_(a, b)

/* Both tables are by distance from the largest: exponentials with 31 fraction bits (0 where it is
 * too far), and differences with 26. */
KILN_KERNEL void KILN_JOIN(log_softmax,
                           KILN_SUFFIX)(const struct log_softmax_integer_shape *s,
                                        const KILN_TYPE *input, const int32_t *exponentials,
                                        const int32_t *differences, KILN_TYPE *output) {
    for (int32_t outer = 0; outer < s->outer; outer++) {
        for (int32_t inner = 0; inner < s->inner; inner++) {
            const int32_t first = outer * s->extent * s->inner + inner;
            const KILN_TYPE *x = input + first;
            int32_t largest = x[0];
            for (int32_t i = 1; i < s->extent; i++)
                largest = x[i * s->inner] > largest ? x[i * s->inner] : largest;
            int32_t sum = 0;
            for (int32_t i = 0; i < s->extent; i++)
                sum += kiln_rounding_shift_right(exponentials[largest - x[i * s->inner]], 12);
            const int32_t logarithm = kiln_log_from_one(sum, 12, 5);
            const int32_t reverse =
                kiln_multiply_quantized(logarithm + INT32_MIN, s->multiplier, s->shift);
            const int32_t least = reverse > s->least ? reverse : s->least;
            for (int32_t i = 0; i < s->extent; i++) {
                const int32_t distance = largest - x[i * s->inner];
                int32_t value = KILN_LEAST;
                if (-distance > least)
                    value = KILN_MOST +
                            kiln_rounding_shift_right(differences[distance] - logarithm, 22);
                output[first + i * s->inner] = (KILN_TYPE)kiln_clamp(value, KILN_LEAST, KILN_MOST);
            }
        }
    }
}

KILN_KERNEL void KILN_JOIN(l2_normalization,
                           KILN_SUFFIX)(const struct l2_normalization_integer_shape *s,
                                        const KILN_TYPE *input, KILN_TYPE *output) {
    for (int32_t outer = 0; outer < s->outer; outer++, input += s->extent, output += s->extent) {
        int32_t sum = 0;
        for (int32_t i = 0; i < s->extent; i++)
            sum += (input[i] - s->input_zero_point) * (input[i] - s->input_zero_point);
        int32_t shift;
        const int32_t multiplier = kiln_inverse_square_root(sum, &shift);
        for (int32_t i = 0; i < s->extent; i++) {
            const int32_t value = (input[i] - s->input_zero_point) * (1 << s->bits_before);
            output[i] = (KILN_TYPE)kiln_clamp(
                kiln_multiply_quantized(value, multiplier, shift + s->bits_while) +
                    s->output_zero_point,
                KILN_LEAST, KILN_MOST);
        }
    }
}

#undef KILN_JOIN_
#undef KILN_JOIN
#undef KILN_SUFFIX
#undef KILN_TYPE
#undef KILN_LEAST
#undef KILN_MOST
