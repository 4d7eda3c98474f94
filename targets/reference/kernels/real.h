/* The real value that a quantized integer means, and the integer nearest to a real. */
#ifndef REFERENCE_REAL_H
#define REFERENCE_REAL_H

#include "kernel.h"
#include "kiln_math.h"

KILN_INLINE float kiln_real(int32_t value, int32_t zero_point, float scale) {
    return (float)(value - zero_point) * scale;
}

/* Ties away from zero; NaN counts as the integer 0. */
KILN_INLINE int32_t kiln_integer(float real, float scale, int32_t zero_point, int32_t low,
                                 int32_t high) {
    const float steps = kiln_roundf(real / scale);
    if (steps != steps)
        return kiln_clamp(0, low, high);
    return (int32_t)kiln_clamp_float(steps, (float)(low - zero_point), (float)(high - zero_point)) +
           zero_point;
}

#endif
