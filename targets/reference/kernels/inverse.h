/* Inverse trigonometric and hyperbolic functions of float32, on top of kiln_math.h. */
#ifndef REFERENCE_INVERSE_H
#define REFERENCE_INVERSE_H

#include "kiln_math.h"

/* x is brought to [0, tan(pi/8)], where a polynomial fitted to atan(x) holds. */
KILN_MATH float kiln_atanf(float x) {
    const float a = kiln_fabsf(x);
    float base = 0.0f, r = a;
    if (a > 2.4142135f) {
        base = 1.5707964f;
        r = -1.0f / a;
    } else if (a > 0.41421357f) {
        base = 0.78539819f;
        r = (a - 1.0f) / (a + 1.0f);
    }
    const float z = r * r;
    const float series =
        (((-0.06572342f * z + 0.10781225f) * z - 0.14267547f) * z + 0.19999649f) * z - 0.3333333f;
    return kiln_copysignf(base + (r + r * z * series), x);
}

KILN_MATH float kiln_asinf(float x) {
    return kiln_atanf(x / kiln_sqrtf((1.0f - x) * (1.0f + x)));
}

KILN_MATH float kiln_acosf(float x) {
    return 2.0f * kiln_atanf(kiln_sqrtf((1.0f - x) / (1.0f + x)));
}

/* log(1 + x): what 1 + x rounds off is made up for by the quotient. */
KILN_MATH float kiln_log1pf(float x) {
    const float u = 1.0f + x;
    if (u == 1.0f)
        return x;
    return u > 1e30f ? kiln_logf(u) : kiln_logf(u) * (x / (u - 1.0f));
}

KILN_MATH float kiln_asinhf(float x) {
    const float a = kiln_fabsf(x);
    const float value = a > 1e8f ? kiln_logf(a) + 0.69314718f
                                 : kiln_log1pf(a + a * a / (1.0f + kiln_sqrtf(a * a + 1.0f)));
    return kiln_copysignf(value, x);
}

KILN_MATH float kiln_acoshf(float x) {
    const float t = x - 1.0f;
    return x > 1e8f ? kiln_logf(x) + 0.69314718f : kiln_log1pf(t + kiln_sqrtf(t * (t + 2.0f)));
}

KILN_MATH float kiln_atanhf(float x) {
    const float a = kiln_fabsf(x);
    return kiln_copysignf(0.5f * kiln_log1pf(2.0f * a / (1.0f - a)), x);
}

/* The exponential of half the argument is squared, so that only the result may overflow. */
KILN_MATH float kiln_sinhf(float x) {
    const float a = kiln_fabsf(x), z = x * x;
    if (a < 0.5f)
        return x + x * z * (0.16666667f + z * (0.0083333333f + z * 1.9841270e-4f));
    const float root = kiln_expf(0.5f * a);
    return kiln_copysignf(0.5f * root * root - 0.5f / root / root, x);
}

KILN_MATH float kiln_coshf(float x) {
    const float root = kiln_expf(0.5f * kiln_fabsf(x));
    return 0.5f * root * root + 0.5f / root / root;
}

#endif
