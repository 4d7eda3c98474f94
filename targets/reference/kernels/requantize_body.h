/* Integers of one type to another scale: expects KILN_NAME(to), KILN_INPUT, KILN_TO and
 * KILN_OUTPUT; undefines the last two. */

#define KILN_JOIN(to) KILN_NAME(to)

KILN_KERNEL void KILN_JOIN(KILN_TO)(const struct requantize_shape *s, const KILN_INPUT *input,
                                    KILN_OUTPUT *output) {
    KILN_INDEPENDENT
    for (int32_t i = 0; i < s->count; i++) {
        const int32_t value =
            kiln_multiply_quantized(input[i] - s->input_zero_point, s->multiplier, s->shift);
        output[i] = (KILN_OUTPUT)kiln_clamp(value + s->output_zero_point, s->low, s->high);
    }
}

#undef KILN_JOIN
#undef KILN_TO
#undef KILN_OUTPUT
