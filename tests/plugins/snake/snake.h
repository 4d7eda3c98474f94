/* snake: x + sin(a x)^2 / a, element by element. */
#include "kernel.h"
#include "kiln_math.h"

struct snake_shape {
    int32_t elements;
    float a;
};

KILN_KERNEL void snake_float32__reference(const struct snake_shape *shape, const float *input,
                                          float *output) {
    for (int32_t i = 0; i < shape->elements; i++) {
        float wave = kiln_sinf(shape->a * input[i]);
        output[i] = input[i] + wave * wave / shape->a;
    }
}
