/* One integer dot product: expects KILN_DOT (its name), KILN_INPUT, KILN_WEIGHT and KILN_SUM, and
 * undefines them. */

#define KILN_JOIN_(a, b) a##b
#define KILN_JOIN(a, b) KILN_JOIN_(a, b)

KILN_INLINE KILN_SUM KILN_DOT(const KILN_INPUT *input, int32_t input_zero_point,
                              const KILN_WEIGHT *weights, int32_t weight_zero_point,
                              int32_t count) {
    KILN_SUM sum = 0;
    for (int32_t i = 0; i < count; i++)
        sum += (input[i] - input_zero_point) * (weights[i] - weight_zero_point);
    return sum;
}

KILN_INLINE KILN_SUM KILN_JOIN(KILN_DOT, _constant)(int32_t input, const KILN_WEIGHT *weights,
                                                    int32_t weight_zero_point, int32_t count) {
    KILN_SUM sum = 0;
    for (int32_t i = 0; i < count; i++)
        sum += weights[i] - weight_zero_point;
    return sum * input;
}

#undef KILN_JOIN_
#undef KILN_JOIN
#undef KILN_DOT
#undef KILN_INPUT
#undef KILN_WEIGHT
#undef KILN_SUM
