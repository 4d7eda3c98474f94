/* One cast: expects KILN_NAME(to), KILN_INPUT, KILN_LOAD, KILN_TO, KILN_OUTPUT and KILN_VALUE(x);
 * undefines the last three. */

#define KILN_JOIN(to) KILN_NAME(to)

KILN_KERNEL void KILN_JOIN(KILN_TO)(const struct cast_shape *s, const KILN_INPUT *input,
                                    KILN_OUTPUT *output) {
    KILN_INDEPENDENT
    for (int32_t i = 0; i < s->count; i++)
        output[i] = (KILN_OUTPUT)KILN_VALUE(KILN_LOAD(input[i]));
}

#undef KILN_JOIN
#undef KILN_TO
#undef KILN_OUTPUT
#undef KILN_VALUE
