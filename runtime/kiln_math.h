/* Float32 mathematics in plain C99: no libc, nothing to link, the same bits on every target.
 *
 * Needs -ffp-contract=off and no -ffast-math. Largest errors, in units of the last place, over
 * all arguments whose result is a normal number (tests/runtime/test_math.py measures them):
 *
 *   exp 1   log 1   tanh 2   logistic 3   sin 2   cos 2   tan 3   erf 2   pow 1   sqrt 0.5
 *
 * Polynomials are least-squares fits at Chebyshev nodes, each coefficient rounded to float32
 * before the next was fitted. All but sin, cos, tan and pow are free of branches, so that loops
 * over them vectorise (gcc wants -fno-trapping-math for it). pow works in double. */
#ifndef KILN_MATH_H
#define KILN_MATH_H

#include <stdint.h>

#define KILN_MATH static inline __attribute__((always_inline, unused))

KILN_MATH uint32_t kiln_float_bits(float x) {
    union {
        float f;
        uint32_t u;
    } value = {x};
    return value.u;
}

KILN_MATH float kiln_float_of_bits(uint32_t bits) {
    union {
        uint32_t u;
        float f;
    } value = {bits};
    return value.f;
}

KILN_MATH float kiln_fabsf(float x) {
    return kiln_float_of_bits(kiln_float_bits(x) & 0x7FFFFFFFu);
}

/* The magnitude of one, the sign of the other. */
KILN_MATH float kiln_copysignf(float magnitude, float sign) {
    uint32_t sign_bit = kiln_float_bits(sign) & 0x80000000u;
    return kiln_float_of_bits((kiln_float_bits(magnitude) & 0x7FFFFFFFu) | sign_bit);
}

/* 2^exponent for -126 <= exponent <= 127. */
KILN_MATH float kiln_power_of_two(int32_t exponent) {
    return kiln_float_of_bits((uint32_t)(exponent + 127) << 23);
}

/* ---- rounding; 2^23 and above are integers already ---- */

KILN_MATH float kiln_truncf(float x) {
    int fraction = kiln_fabsf(x) < 8388608.0f;
    float whole = (float)(int32_t)(fraction ? x : 0.0f);
    return kiln_copysignf(fraction ? whole : x, x);
}

KILN_MATH float kiln_floorf(float x) {
    float whole = kiln_truncf(x);
    return whole > x ? whole - 1.0f : whole;
}

KILN_MATH float kiln_ceilf(float x) {
    float whole = kiln_truncf(x);
    return whole < x ? kiln_copysignf(whole + 1.0f, x) : whole;
}

/* Ties away from zero. */
KILN_MATH float kiln_roundf(float x) {
    float whole = kiln_truncf(x);
    return whole + kiln_copysignf(kiln_fabsf(x - whole) >= 0.5f ? 1.0f : 0.0f, x);
}

/* Ties to even. */
KILN_MATH float kiln_rintf(float x) {
    float magnitude = kiln_fabsf(x);
    float whole = magnitude < 8388608.0f ? (magnitude + 8388608.0f) - 8388608.0f : magnitude;
    return magnitude != magnitude ? x : kiln_copysignf(whole, x);
}

/* ---- square root ---- */

/* One bit of the result at a time; exact, as the instructions are. */
KILN_MATH float kiln_sqrtf_bits(float x) {
    uint32_t bits = kiln_float_bits(x);
    if (bits == 0x80000000u || x == 0.0f || x != x || bits == 0x7F800000u)
        return x;
    if (bits >> 31)
        return kiln_float_of_bits(0x7FC00000u);
    int32_t exponent = (int32_t)(bits >> 23);
    uint32_t mantissa = bits & 0x7FFFFFu;
    if (exponent == 0)
        for (exponent = 1; (mantissa & 0x800000u) == 0; exponent--)
            mantissa <<= 1;
    mantissa |= 0x800000u;
    exponent -= 127;
    if (exponent & 1)
        mantissa <<= 1;
    /* The root of mantissa * 2^25, 2^24 <= root < 2^25: 24 bits and one to round by. */
    uint64_t remainder = 0, radicand = (uint64_t)mantissa << 39; /* the bits at the top */
    uint32_t root = 0;
    for (int i = 0; i < 25; i++) {
        remainder = remainder << 2 | radicand >> 62;
        radicand <<= 2;
        uint64_t trial = (uint64_t)root << 2 | 1;
        root <<= 1;
        if (remainder >= trial) {
            remainder -= trial;
            root |= 1;
        }
    }
    root = (root + 1) >> 1; /* a tie is impossible: no root has exactly 25 bits */
    uint32_t biased = (uint32_t)((exponent - (exponent & 1)) / 2 + 127);
    return kiln_float_of_bits((biased << 23) + (root - 0x800000u));
}

KILN_MATH float kiln_sqrtf(float x) {
#if defined(__NO_MATH_ERRNO__) &&                                                                  \
    (defined(__aarch64__) || defined(__SSE2__) || (defined(__ARM_FP) && (__ARM_FP & 4)))
    return __builtin_sqrtf(x);
#elif defined(__aarch64__)
    float root;
    __asm__("fsqrt %s0, %s1" : "=w"(root) : "w"(x));
    return root;
#elif defined(__ARM_FP) && (__ARM_FP & 4)
    float root;
    __asm__("vsqrt.f32 %0, %1" : "=t"(root) : "t"(x));
    return root;
#elif defined(__SSE2__)
    float root;
    __asm__("sqrtss %1, %0" : "=x"(root) : "x"(x));
    return root;
#else
    return kiln_sqrtf_bits(x);
#endif
}

/* ---- exponential and what is made of it ---- */

KILN_MATH float kiln_expf(float x) {
    float limited = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x; /* beyond: 0, infinity */
    float biased = limited * 1.44269504f + 12582912.0f; /* 1.5 * 2^23: rounds to an integer */
    float n = biased - 12582912.0f;
    int32_t exponent = (int32_t)(kiln_float_bits(biased) - 0x4B400000u);
    float r = limited - n * 0.693359375f; /* log(2) in two parts, the first of 10 bits */
    r = r - n * -2.12194440e-4f;
    float q = 1.3935772e-3f + r * 1.9576379e-4f;
    q = 4.1666456e-2f + r * (8.333889e-3f + r * q);
    q = 0.5f + r * (0.16666664f + r * q);
    float e = 1.0f + (r + r * r * q);
    /* In two halves, so that neither leaves the normal range. A NaN has passed into e. */
    exponent = exponent < -152 ? -152 : exponent > 130 ? 130 : exponent;
    int32_t half = exponent / 2;
    return e * kiln_power_of_two(half) * kiln_power_of_two(exponent - half);
}

KILN_MATH float kiln_tanhf(float x) {
    float magnitude = kiln_fabsf(x);
    float z = magnitude * magnitude;
    float p = -8.182723e-3f + z * 2.1450375e-3f;
    p = -5.3947847e-2f + z * (2.1704456e-2f + z * p);
    p = -0.3333333f + z * (0.1333322f + z * p);
    float small = magnitude + magnitude * z * p;
    float limited = magnitude > 10.0f ? 10.0f : magnitude;
    float large = 1.0f - 2.0f / (kiln_expf(2.0f * limited) + 1.0f);
    return kiln_copysignf(magnitude < 0.625f ? small : large, x);
}

/* 1 / (1 + exp(-x)). */
KILN_MATH float kiln_logisticf(float x) {
    float e = kiln_expf(-kiln_fabsf(x));
    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/* ---- logarithm ---- */

KILN_MATH float kiln_logf(float x) {
    int denormal = x < 1.17549435e-38f;
    uint32_t bits = kiln_float_bits(denormal ? x * 33554432.0f : x); /* 2^25 */
    /* x = 2^exponent * m, m from sqrt(1/2) to sqrt(2). */
    uint32_t shifted = bits - 0x3F3504F3u;
    int32_t exponent = (int32_t)(shifted & 0xFF800000u) / 8388608;
    float f = kiln_float_of_bits((shifted & 0x7FFFFFu) + 0x3F3504F3u) - 1.0f;
    float n = (float)(exponent - (denormal ? 25 : 0));
    /* log(1 + f) = log((1 + s) / (1 - s)) = 2 s + s^3 p(s^2) */
    float s = f / (2.0f + f);
    float z = s * s;
    float p = z * (0.6666666f + z * (0.4000085f + z * (0.28510144f + z * 0.24029095f)));
    float half_square = 0.5f * f * f;
    float low = s * (half_square + p) + n * -2.12194440e-4f;
    float result = n * 0.693359375f - ((half_square - low) - f);
    result = x == 0.0f ? -__builtin_inff() : result;
    result = x < 0.0f ? kiln_float_of_bits(0x7FC00000u) : result;
    return x < __builtin_inff() ? result : x; /* infinity and NaN as they are */
}

/* ---- sine, cosine, tangent ---- */

/* x = quadrant * pi/2 + the result, |result| <= pi/4, for every finite x. The quadrant is that
 * modulo 4. In integers, since x * 2/pi needs up to 198 bits of 2/pi (Payne and Hanek 1983). */
KILN_MATH float kiln_reduce_angle(float x, uint32_t *quadrant) {
    /* 2/pi behind 32 zero bits. */
    static const uint32_t two_over_pi[8] = {0x00000000, 0xA2F9836E, 0x4E441529, 0xFC2757D1,
                                            0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB};
    float magnitude = kiln_fabsf(x);
    *quadrant = 0;
    if (magnitude < 0.785398f)
        return x;
    uint32_t bits = kiln_float_bits(magnitude);
    if (bits >= 0x7F800000u)
        return kiln_float_of_bits(0x7FC00000u);
    uint32_t mantissa = (bits & 0x7FFFFFu) | 0x800000u;
    /* 96 bits of 2/pi * 2^(exponent of the mantissa), from the one worth 2 on. */
    uint32_t first = (bits >> 23) - 150u + 30u;
    const uint32_t *word = two_over_pi + first / 32;
    uint32_t window[3];
    for (int i = 0; i < 3; i++) {
        uint64_t pair = (uint64_t)word[i] << 32 | word[i + 1];
        window[i] = (uint32_t)(pair >> (32 - first % 32));
    }
    /* magnitude * 2/pi modulo 4, in units of 2^-62. */
    uint64_t turns = ((uint64_t)mantissa * window[0] << 32) + (uint64_t)mantissa * window[1] +
                     ((uint64_t)mantissa * window[2] >> 32);
    uint64_t nearest = (turns + ((uint64_t)1 << 61)) >> 62;
    uint64_t rest = turns - (nearest << 62);
    int below = (rest >> 63) != 0;
    if (below)
        rest = (uint64_t)0 - rest;
    /* rest * pi/4, the upper 64 bits of 128. */
    uint64_t high = rest >> 32, low = rest & 0xFFFFFFFFu;
    uint64_t angle = high * 0xC90FDAA2u + (high * 0x2168C234u >> 32) + (low * 0xC90FDAA2u >> 32);
    float result = (float)angle * 4.33680869e-19f; /* 2^-61 */
    int negative = x < 0.0f;
    *quadrant = (uint32_t)(negative ? 0 - nearest : nearest) & 3;
    return below != negative ? -result : result;
}

/* sin(r) for |r| <= pi/4. */
KILN_MATH float kiln_sin_reduced(float r) {
    float z = r * r;
    float p = -0.16666667f + z * (8.333373e-3f + z * (-1.9850302e-4f + z * 2.804503e-6f));
    return r + r * z * p;
}

/* cos(r) for |r| <= pi/4. */
KILN_MATH float kiln_cos_reduced(float r) {
    float z = r * r;
    float p = 4.1666668e-2f + z * (-1.3888974e-3f + z * (2.4819743e-5f + z * -2.8662805e-7f));
    float half = 0.5f * z;
    float rounded = 1.0f - half;
    return rounded + (((1.0f - rounded) - half) + z * z * p);
}

KILN_MATH float kiln_sinf(float x) {
    uint32_t quadrant;
    float r = kiln_reduce_angle(x, &quadrant);
    float value = quadrant & 1 ? kiln_cos_reduced(r) : kiln_sin_reduced(r);
    return quadrant & 2 ? -value : value;
}

KILN_MATH float kiln_cosf(float x) {
    uint32_t quadrant;
    float r = kiln_reduce_angle(x, &quadrant);
    float value = quadrant & 1 ? kiln_sin_reduced(r) : kiln_cos_reduced(r);
    return (quadrant + 1) & 2 ? -value : value;
}

KILN_MATH float kiln_tanf(float x) {
    uint32_t quadrant;
    float r = kiln_reduce_angle(x, &quadrant);
    float sine = kiln_sin_reduced(r), cosine = kiln_cos_reduced(r);
    return quadrant & 1 ? -cosine / sine : sine / cosine;
}

/* ---- error function ---- */

KILN_MATH float kiln_erff(float x) {
    float magnitude = kiln_fabsf(x);
    float z = magnitude * magnitude;
    float p = 1.1394211e-4f + z * (-1.14590175e-5f + z * 6.117735e-7f);
    p = -2.6864136e-2f + z * (5.2188504e-3f + z * (-8.473198e-4f + z * p));
    p = 0.12837917f + z * (-0.37612635f + z * (0.112837486f + z * p));
    float small = magnitude + magnitude * p;
    /* 1 - exp(-q(magnitude - 2.5)) up to 4, from where on the result is 1. */
    float t = (magnitude > 4.0f ? 4.0f : magnitude) - 2.5f;
    float q = 4.3546752e-4f + t * (-5.9838843e-5f + t * 2.2000864e-5f);
    q = 0.9438906f + t * (1.0854536e-2f + t * (-2.1620572e-3f + t * q));
    q = 7.806815f + t * (5.3526797f + t * q);
    float large = 1.0f - kiln_expf(-q);
    return kiln_copysignf(magnitude < 1.2f ? small : large, x);
}

/* ---- power ---- */

/* log2 of a positive, finite x. */
KILN_MATH double kiln_log2_double(float x) {
    int denormal = x < 1.17549435e-38f;
    uint32_t bits = kiln_float_bits(denormal ? x * 33554432.0f : x); /* 2^25 */
    uint32_t shifted = bits - 0x3F3504F3u;
    int32_t exponent = (int32_t)(shifted & 0xFF800000u) / 8388608;
    double m = kiln_float_of_bits((shifted & 0x7FFFFFu) + 0x3F3504F3u);
    double s = (m - 1.0) / (m + 1.0), z = s * s, sum = 1.0 / 17;
    /* log(m) / 2 = s + s^3 / 3 + s^5 / 5 + ... */
    for (int n = 15; n > 0; n -= 2)
        sum = sum * z + 1.0 / n;
    return (exponent - (denormal ? 25 : 0)) + 2.8853900817779268 * s * sum;
}

/* 2^x, for every x; the float may be 0, a denormal or infinity. */
KILN_MATH float kiln_exp2_double(double x) {
    if (x != x)
        return kiln_float_of_bits(0x7FC00000u);
    double limited = x < -160.0 ? -160.0 : x > 130.0 ? 130.0 : x;
    int32_t exponent = (int32_t)(limited + (limited < 0.0 ? -0.5 : 0.5));
    double r = (limited - exponent) * 0.69314718055994531, sum = 1.0;
    for (int n = 9; n > 0; n--)
        sum = 1.0 + sum * r / n;
    union {
        uint64_t u;
        double d;
    } scale = {(uint64_t)(exponent + 1023) << 52};
    return (float)(sum * scale.d);
}

KILN_MATH float kiln_powf(float x, float y) {
    float magnitude = kiln_fabsf(x), infinity = __builtin_inff();
    if (y == 0.0f || x == 1.0f)
        return 1.0f;
    if (x != x || y != y)
        return x + y;
    int whole = kiln_truncf(y) == y;
    int odd = whole && kiln_fabsf(y) < 16777216.0f && ((int32_t)y & 1);
    int negative = kiln_float_bits(x) >> 31 != 0;
    int finite = magnitude != 0.0f && magnitude != infinity;
    if (negative && !whole && finite)
        return kiln_float_of_bits(0x7FC00000u);
    float result = (magnitude == 0.0f) == (y < 0.0f) ? infinity : 0.0f;
    if (magnitude == 1.0f)
        result = 1.0f;
    else if (finite)
        result = kiln_exp2_double((double)y * kiln_log2_double(magnitude));
    return negative && odd ? -result : result;
}

#endif
