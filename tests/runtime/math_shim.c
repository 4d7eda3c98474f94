/* kiln_math.h as functions over arrays, for Python: `evaluate(name, count, x, y, out)`. */
#include "kiln_math.h"

#include <stddef.h>
#include <string.h>

#define UNARY(name)                                                                                \
    if (strcmp(function, #name) == 0) {                                                            \
        for (size_t i = 0; i < count; i++)                                                         \
            out[i] = kiln_##name##f(x[i]);                                                         \
        return 0;                                                                                  \
    }

/* Returns -1 where there is no such function; y is used by pow alone. */
int evaluate(const char *function, size_t count, const float *x, const float *y, float *out) {
    UNARY(exp)
    UNARY(log)
    UNARY(tanh)
    UNARY(logistic)
    UNARY(sin)
    UNARY(cos)
    UNARY(tan)
    UNARY(erf)
    UNARY(sqrt)
    UNARY(floor)
    UNARY(ceil)
    UNARY(trunc)
    UNARY(round)
    UNARY(rint)
    if (strcmp(function, "sqrt_bits") == 0) {
        for (size_t i = 0; i < count; i++)
            out[i] = kiln_sqrtf_bits(x[i]);
        return 0;
    }
    if (strcmp(function, "pow") == 0) {
        for (size_t i = 0; i < count; i++)
            out[i] = kiln_powf(x[i], y[i]);
        return 0;
    }
    return -1;
}
