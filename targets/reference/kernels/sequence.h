/* Recurrent layers over a sequence whose products with the input weights are done already. */
#ifndef REFERENCE_SEQUENCE_H
#define REFERENCE_SEQUENCE_H

#include "kiln_math.h"
#include "reference/kernels/products.h"

enum kiln_sequence_function { KILN_SEQUENCE_LOGISTIC, KILN_SEQUENCE_TANH, KILN_SEQUENCE_RELU };

/* x (steps, batch, gates * hidden), weights (gates * hidden, hidden) -> y (steps, batch, hidden) */
struct sequence_shape {
    int32_t steps, batch, hidden;
    int32_t reverse;
    int32_t linear_before_reset;
    int32_t activation[3]; /* enum kiln_sequence_function of the gates, the candidate, the output */
    float clip;
};

KILN_INLINE float kiln_sequence_apply(int32_t function, float x) {
    if (function == KILN_SEQUENCE_LOGISTIC)
        return kiln_logisticf(x);
    return function == KILN_SEQUENCE_TANH ? kiln_tanhf(x) : x > 0.0f ? x : 0.0f;
}

/* A gate or candidate, whose argument is clipped. */
KILN_INLINE float kiln_sequence_value(const struct sequence_shape *s, int32_t index, float x) {
    return kiln_sequence_apply(s->activation[index], kiln_clamp_float(x, -s->clip, s->clip));
}

/* The output before step t of row n. */
KILN_INLINE const float *kiln_sequence_before(const struct sequence_shape *s, const float *first,
                                              const float *y, int32_t t, int32_t n) {
    const int32_t from = s->reverse ? t + 1 : t - 1;
    if (from < 0 || from >= s->steps)
        return first + n * s->hidden;
    return y + (from * s->batch + n) * s->hidden;
}

KILN_KERNEL void recurrent_rnn_float32__reference(const struct sequence_shape *s, const float *x,
                                                  const float *weights, const float *first,
                                                  float *y) {
    for (int32_t turn = 0; turn < s->steps; turn++) {
        const int32_t t = s->reverse ? s->steps - 1 - turn : turn;
        for (int32_t n = 0; n < s->batch; n++) {
            const float *h = kiln_sequence_before(s, first, y, t, n);
            const int32_t row = (t * s->batch + n) * s->hidden;
            for (int32_t i = 0; i < s->hidden; i++)
                y[row + i] = kiln_sequence_value(
                    s, 0, x[row + i] + kiln_dot_float32(h, weights + i * s->hidden, s->hidden));
        }
    }
}

/* Gates: input, output, forget, candidate; peepholes of the first three. The cell lies in `cell`,
 * which starts as first_cell. */
KILN_KERNEL void recurrent_lstm_float32__reference(const struct sequence_shape *s, const float *x,
                                                   const float *weights, const float *first,
                                                   const float *first_cell, const float *peephole,
                                                   float *y, float *cell) {
    const int32_t hidden = s->hidden;
    for (int32_t i = 0; i < s->batch * hidden; i++)
        cell[i] = first_cell[i];
    for (int32_t turn = 0; turn < s->steps; turn++) {
        const int32_t t = s->reverse ? s->steps - 1 - turn : turn;
        for (int32_t n = 0; n < s->batch; n++) {
            const float *h = kiln_sequence_before(s, first, y, t, n);
            const float *row = x + (t * s->batch + n) * 4 * hidden;
            float *output = y + (t * s->batch + n) * hidden, *c = cell + n * hidden;
            for (int32_t i = 0; i < hidden; i++) {
                float gate[4];
                for (int32_t g = 0; g < 4; g++)
                    gate[g] = row[g * hidden + i] +
                              kiln_dot_float32(h, weights + (g * hidden + i) * hidden, hidden);
                const float opened = kiln_sequence_value(s, 0, gate[0] + peephole[i] * c[i]);
                const float kept =
                    kiln_sequence_value(s, 0, gate[2] + peephole[2 * hidden + i] * c[i]);
                c[i] = kept * c[i] + opened * kiln_sequence_value(s, 1, gate[3]);
                output[i] = kiln_sequence_value(s, 0, gate[1] + peephole[hidden + i] * c[i]) *
                            kiln_sequence_apply(s->activation[2], c[i]);
            }
        }
    }
}

/* Gates: update, reset, candidate. scratch: 2 * hidden floats. */
KILN_KERNEL void recurrent_gru_float32__reference(const struct sequence_shape *s, const float *x,
                                                  const float *weights, const float *first,
                                                  const float *bias, float *scratch, float *y) {
    const int32_t hidden = s->hidden;
    float *update = scratch, *reset = scratch + hidden;
    for (int32_t turn = 0; turn < s->steps; turn++) {
        const int32_t t = s->reverse ? s->steps - 1 - turn : turn;
        for (int32_t n = 0; n < s->batch; n++) {
            const float *h = kiln_sequence_before(s, first, y, t, n);
            const float *row = x + (t * s->batch + n) * 3 * hidden;
            float *output = y + (t * s->batch + n) * hidden;
            for (int32_t i = 0; i < hidden; i++) {
                const float *u = weights + i * hidden, *r = u + hidden * hidden;
                update[i] = kiln_sequence_value(s, 0, row[i] + kiln_dot_float32(h, u, hidden));
                reset[i] =
                    kiln_sequence_value(s, 0, row[hidden + i] + kiln_dot_float32(h, r, hidden));
                if (!s->linear_before_reset)
                    reset[i] *= h[i];
            }
            for (int32_t i = 0; i < hidden; i++) {
                const float *w = weights + (2 * hidden + i) * hidden;
                const float inner = s->linear_before_reset
                                        ? reset[i] * (kiln_dot_float32(h, w, hidden) + bias[i])
                                        : kiln_dot_float32(reset, w, hidden);
                const float candidate = kiln_sequence_value(s, 1, row[2 * hidden + i] + inner);
                output[i] = (1.0f - update[i]) * candidate + update[i] * h[i];
            }
        }
    }
}

#endif
