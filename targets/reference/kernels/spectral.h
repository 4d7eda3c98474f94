/* Fourier transforms of real rows whose length is a power of two. */
#ifndef REFERENCE_SPECTRAL_H
#define REFERENCE_SPECTRAL_H

#include "memory.h"

#include "kernel.h"

struct rfft_shape {
    int32_t rows, input_length, length;
};

/* Puts element i of n = 2^k pairs where the bits of i, read backwards, say. */
KILN_INLINE void kiln_reverse_bits(float *pairs, int32_t n) {
    for (int32_t i = 0, j = 0; i < n; i++) {
        if (i < j) {
            for (int32_t part = 0; part < 2; part++) {
                const float kept = pairs[2 * i + part];
                pairs[2 * i + part] = pairs[2 * j + part];
                pairs[2 * j + part] = kept;
            }
        }
        int32_t bit = n >> 1;
        for (; bit > 0 && (j & bit); bit >>= 1)
            j &= ~bit;
        j |= bit;
    }
}

/* Complex transform of n = 2^k pairs; table[k] is e^(-2 pi i k / (n * stride)). */
KILN_INLINE void kiln_fft(float *pairs, int32_t n, const float *table, int32_t stride) {
    kiln_reverse_bits(pairs, n);
    for (int32_t half = 1; half < n; half *= 2) {
        const int32_t step = stride * n / (2 * half);
        for (int32_t start = 0; start < n; start += 2 * half) {
            for (int32_t k = 0; k < half; k++) {
                float *a = pairs + 2 * (start + k), *b = a + 2 * half;
                const float c = table[2 * step * k], s = table[2 * step * k + 1];
                const float real = b[0] * c - b[1] * s, imaginary = b[0] * s + b[1] * c;
                b[0] = a[0] - real;
                b[1] = a[1] - imaginary;
                a[0] += real;
                a[1] += imaginary;
            }
        }
    }
}

/* From the transform z of the pairs (even, odd) to that of all: with the transforms E and O of the
 * even and the odd elements, z[k] = E[k] + i O[k], and the result is E[k] + e^(-2 pi i k / N) O[k].
 */
KILN_INLINE void kiln_join_halves(float *z, int32_t n, const float *table) {
    const float first = z[0], second = z[1];
    for (int32_t k = 1, m = n - 1; k <= m; k++, m--) {
        float *a = z + 2 * k, *b = z + 2 * m;
        const float even_r = 0.5f * (a[0] + b[0]), even_i = 0.5f * (a[1] - b[1]);
        const float odd_r = 0.5f * (a[1] + b[1]), odd_i = 0.5f * (b[0] - a[0]);
        const float c = table[2 * k], s = table[2 * k + 1];
        const float turned_r = odd_r * c - odd_i * s, turned_i = odd_r * s + odd_i * c;
        a[0] = even_r + turned_r;
        a[1] = even_i + turned_i;
        b[0] = even_r - turned_r;
        b[1] = turned_i - even_i;
    }
    z[0] = first + second;
    z[1] = 0.0f;
    z[2 * n] = first - second;
    z[2 * n + 1] = 0.0f;
}

/* table: cos and -sin of 2 pi k / length, k < length / 2. */
KILN_KERNEL void rfft_float32__reference(const struct rfft_shape *s, const float *input,
                                         const float *table, float *output) {
    const int32_t length = s->length;
    const int32_t given = s->input_length < length ? s->input_length : length;
    for (int32_t row = 0; row < s->rows; row++, input += s->input_length, output += length + 2) {
        memcpy(output, input, (size_t)given * 4);
        memset(output + given, 0, (size_t)(length - given) * 4);
        kiln_fft(output, length / 2, table, 2);
        kiln_join_halves(output, length / 2, table);
    }
}

#endif
