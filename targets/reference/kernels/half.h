/* IEEE half precision as storage: its 16 bits to and from float, without compiler support. */
#ifndef REFERENCE_HALF_H
#define REFERENCE_HALF_H

#include "kernel.h"
#include "kiln_math.h"

KILN_INLINE float kiln_float_of_half(uint16_t half) {
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    const uint32_t exponent = (half >> 10) & 31u, mantissa = half & 1023u;
    if (exponent == 31) /* infinity, NaN */
        return kiln_float_of_bits(sign | 0x7F800000u | mantissa << 13);
    if (exponent == 0) { /* 0 and subnormals: mantissa * 2^-24 */
        const float magnitude = (float)mantissa * 5.9604645e-8f;
        return sign ? -magnitude : magnitude;
    }
    return kiln_float_of_bits(sign | (exponent + 112u) << 23 | mantissa << 13);
}

/* Ties to even; too large becomes infinity. */
KILN_INLINE uint16_t kiln_half_of_float(float value) {
    const uint32_t bits = kiln_float_bits(value);
    const uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) /* NaN */
        return (uint16_t)(sign | 0x7E00u);
    if (magnitude >= 0x477FF000u) /* 65520 and more round to infinity */
        return (uint16_t)(sign | 0x7C00u);
    if (magnitude <
        0x38800000u) { /* below 2^-14: adding 0.5 leaves the subnormal in the mantissa */
        const float shifted = kiln_float_of_bits(magnitude) + 0.5f;
        return (uint16_t)(sign | (kiln_float_bits(shifted) - 0x3F000000u));
    }
    const uint32_t odd = (magnitude >> 13) & 1u;
    return (uint16_t)(sign | ((magnitude - 0x38000000u + 0xFFFu + odd) >> 13));
}

#endif
