/* One unary operator: expects KILN_OPERATION and KILN_VALUE(x), which may use the shape `s`;
 * KILN_TYPE, KILN_SHAPE and KILN_SUFFIX stay defined for the next. Where KILN_EACH(operation,
 * value) is defined, that stands in place of a kernel; the operand is then called `left`. */

#ifdef KILN_EACH
KILN_EACH(KILN_OPERATION, KILN_VALUE(left))
#else

#define KILN_JOIN_(a, b) a##_##b
#define KILN_JOIN(a, b) KILN_JOIN_(a, b)

KILN_KERNEL void KILN_JOIN(KILN_OPERATION, KILN_SUFFIX)(const struct KILN_SHAPE *s,
                                                        const KILN_TYPE *input, KILN_TYPE *output) {
    KILN_INDEPENDENT
    for (int32_t i = 0; i < s->count; i++)
        output[i] = KILN_VALUE(input[i]);
}

#undef KILN_JOIN_
#undef KILN_JOIN
#endif

#undef KILN_OPERATION
#undef KILN_VALUE
