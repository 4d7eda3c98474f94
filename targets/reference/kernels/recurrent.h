/* Recurrent layers. A state that is given in another place than it is left in is copied first. */
#ifndef REFERENCE_RECURRENT_H
#define REFERENCE_RECURRENT_H

#include "memory.h"

#include "kiln_math.h"
#include "reference/kernels/fixed_point_16.h"
#include "reference/kernels/products.h"

/* Element strides of x and y over time and batch. */
#define KILN_SEQUENCE_MEMBERS                                                                      \
    int32_t time, batch, features, outputs;                                                        \
    int32_t x_time, x_batch, y_time, y_batch;

enum kiln_recurrent_activation { KILN_PLAIN, KILN_RELU, KILN_RELU6, KILN_TANH, KILN_SIGMOID };

KILN_INLINE float kiln_sigmoid(float x) {
    return 1.0f / (1.0f + kiln_expf(-x));
}

KILN_INLINE float kiln_activate(float x, int32_t activation) {
    switch (activation) {
    case KILN_RELU:
        return x < 0.0f ? 0.0f : x;
    case KILN_RELU6:
        return kiln_clamp_float(x, 0.0f, 6.0f);
    case KILN_TANH:
        return kiln_tanhf(x);
    case KILN_SIGMOID:
        return kiln_sigmoid(x);
    default:
        return x;
    }
}

KILN_INLINE void kiln_carry(const void *before, void *state, int32_t bytes) {
    if (before != state)
        memcpy(state, before, (size_t)bytes);
}

struct rnn_shape {
    KILN_SEQUENCE_MEMBERS
    int32_t activation; /* enum kiln_recurrent_activation */
};

/* scratch: one float per unit. */
KILN_KERNEL void rnn_float32__reference(const struct rnn_shape *s, const float *x,
                                        const float *weights, const float *recurrent,
                                        const float *bias, const float *before, float *scratch,
                                        float *y, float *state) {
    const int32_t units = s->outputs;
    kiln_carry(before, state, s->batch * units * 4);
    for (int32_t b = 0; b < s->batch; b++, state += units) {
        for (int32_t t = 0; t < s->time; t++) {
            const float *input = x + t * s->x_time + b * s->x_batch;
            for (int32_t o = 0; o < units; o++) {
                float sum = bias[o];
                sum += kiln_dot_float32(input, weights + o * s->features, s->features);
                sum += kiln_dot_float32(state, recurrent + o * units, units);
                scratch[o] = kiln_activate(sum, s->activation);
            }
            memcpy(state, scratch, (size_t)units * 4);
            memcpy(y + t * s->y_time + b * s->y_batch, scratch, (size_t)units * 4);
        }
    }
}

/* State (batch, units * rank, memory): the last product of each filter stands last. */
struct svdf_float32_shape {
    int32_t batch, features, units, rank, memory;
    float clamp_low, clamp_high;
};
struct svdf_int8_shape {
    int32_t batch, features, units, rank, memory;
    int32_t clamp_low, clamp_high;
    int32_t input_zero_point, output_zero_point;
    int32_t feature_multiplier, feature_shift, output_multiplier, output_shift;
};

KILN_KERNEL void svdf_float32__reference(const struct svdf_float32_shape *s, const float *x,
                                         const float *features, const float *times,
                                         const float *bias, const float *before, float *y,
                                         float *state) {
    const int32_t memory = s->memory, filters = s->units * s->rank;
    kiln_carry(before, state, s->batch * filters * memory * 4);
    for (int32_t b = 0; b < s->batch; b++, x += s->features) {
        for (int32_t o = 0; o < s->units; o++) {
            float sum = bias[o];
            for (int32_t r = 0; r < s->rank; r++, state += memory) {
                const int32_t f = o * s->rank + r;
                state[memory - 1] = kiln_dot_float32(x, features + f * s->features, s->features);
                sum += kiln_dot_float32(state, times + f * memory, memory);
                memmove(state, state + 1, (size_t)(memory - 1) * 4);
                state[memory - 1] = 0.0f;
            }
            *y++ = kiln_clamp_float(sum, s->clamp_low, s->clamp_high);
        }
    }
}

KILN_KERNEL void svdf_int8__reference(const struct svdf_int8_shape *s, const int8_t *x,
                                      const int8_t *features, const int16_t *times,
                                      const int32_t *bias, const int16_t *before, int8_t *y,
                                      int16_t *state) {
    const int32_t memory = s->memory, filters = s->units * s->rank;
    kiln_carry(before, state, s->batch * filters * memory * 2);
    for (int32_t b = 0; b < s->batch; b++, x += s->features) {
        for (int32_t o = 0; o < s->units; o++) {
            uint32_t sum = (uint32_t)bias[o]; /* wraps, as it does in TFLite */
            for (int32_t r = 0; r < s->rank; r++, state += memory) {
                const int32_t f = o * s->rank + r;
                const int32_t product = kiln_dot_int8(x, s->input_zero_point,
                                                      features + f * s->features, 0, s->features);
                state[memory - 1] = (int16_t)kiln_clamp(
                    kiln_multiply_quantized(product, s->feature_multiplier, s->feature_shift),
                    -32768, 32767);
                for (int32_t i = 0; i < memory; i++)
                    sum += (uint32_t)(state[i] * times[f * memory + i]);
                memmove(state, state + 1, (size_t)(memory - 1) * 2);
                state[memory - 1] = 0;
            }
            const int32_t value =
                kiln_multiply_quantized((int32_t)sum, s->output_multiplier, s->output_shift) +
                s->output_zero_point;
            *y++ = (int8_t)kiln_clamp(value, s->clamp_low, s->clamp_high);
        }
    }
}

/* Gates: input (where there is one), forget, cell, output; each (cells, ...). */
#define KILN_LSTM_MEMBERS                                                                          \
    KILN_SEQUENCE_MEMBERS                                                                          \
    int32_t cells, has_input_gate;

struct lstm_float32_shape {
    KILN_LSTM_MEMBERS
    int32_t has_peepholes, has_norms, has_projection;
    int32_t activation;               /* enum kiln_recurrent_activation, of cells */
    float cell_clip, projection_clip; /* infinite where there is none */
};

KILN_INLINE void kiln_normalize(float *values, int32_t count) {
    float sum = 0.0f, squares = 0.0f;
    for (int32_t i = 0; i < count; i++)
        sum += values[i];
    const float mean = sum / (float)count;
    for (int32_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    const float variance = squares / (float)count;
    const float factor = 1.0f / kiln_sqrtf(variance + 1e-8f);
    for (int32_t i = 0; i < count; i++)
        values[i] = (values[i] - mean) * factor;
}

/* One gate of one step, before its function; `weights` and `recurrent` are the gate's. */
KILN_INLINE void kiln_lstm_sums(const struct lstm_float32_shape *s, const float *x,
                                const float *hidden, const float *weights, const float *recurrent,
                                const float *bias, const float *norm, const float *peephole,
                                const float *cell, float *gate) {
    for (int32_t i = 0; i < s->cells; i++) {
        float sum = kiln_dot_float32(x, weights + i * s->features, s->features);
        sum += kiln_dot_float32(hidden, recurrent + i * s->outputs, s->outputs);
        if (s->has_peepholes && peephole)
            sum += peephole[i] * cell[i];
        gate[i] = s->has_norms ? sum : sum + bias[i];
    }
    if (!s->has_norms)
        return;
    kiln_normalize(gate, s->cells);
    for (int32_t i = 0; i < s->cells; i++)
        gate[i] = gate[i] * norm[i] + bias[i];
}

KILN_INLINE void kiln_project(const struct lstm_float32_shape *s, const float *projection,
                              const float *bias, const float *from, float *hidden) {
    for (int32_t o = 0; o < s->outputs; o++) {
        if (!s->has_projection) {
            hidden[o] = from[o];
            continue;
        }
        const float sum = bias[o] + kiln_dot_float32(from, projection + o * s->cells, s->cells);
        hidden[o] = kiln_clamp_float(sum, -s->projection_clip, s->projection_clip);
    }
}

/* scratch: four floats per cell. Peepholes: of the input, forget and output gate. */
KILN_KERNEL void lstm_float32__reference(const struct lstm_float32_shape *s, const float *x,
                                         const float *weights, const float *recurrent,
                                         const float *bias, const float *peepholes,
                                         const float *norms, const float *projection,
                                         const float *projection_bias, const float *hidden_before,
                                         const float *cell_before, float *scratch, float *y,
                                         float *hidden, float *cell) {
    const int32_t n = s->cells, of_x = n * s->features, of_hidden = n * s->outputs;
    const int32_t first = !s->has_input_gate; /* of the gates that have weights */
    kiln_carry(hidden_before, hidden, s->batch * s->outputs * 4);
    kiln_carry(cell_before, cell, s->batch * n * 4);
    for (int32_t b = 0; b < s->batch; b++, hidden += s->outputs, cell += n) {
        for (int32_t t = 0; t < s->time; t++) {
            const float *input = x + t * s->x_time + b * s->x_batch;
            for (int32_t gate = first; gate < 3; gate++)
                kiln_lstm_sums(s, input, hidden, weights + (gate - first) * of_x,
                               recurrent + (gate - first) * of_hidden, bias + gate * n,
                               s->has_norms ? norms + gate * n : norms,
                               s->has_peepholes && gate < 2 ? peepholes + gate * n : 0, cell,
                               scratch + gate * n);
            for (int32_t i = 0; i < n; i++) {
                const float forget = kiln_sigmoid(scratch[n + i]);
                const float taken = first ? 1.0f - forget : kiln_sigmoid(scratch[i]);
                const float change = kiln_activate(scratch[2 * n + i], s->activation);
                cell[i] = kiln_clamp_float(forget * cell[i] + taken * change, -s->cell_clip,
                                           s->cell_clip);
            }
            float *output = scratch + 3 * n;
            kiln_lstm_sums(s, input, hidden, weights + (3 - first) * of_x,
                           recurrent + (3 - first) * of_hidden, bias + 3 * n,
                           s->has_norms ? norms + 3 * n : norms,
                           s->has_peepholes ? peepholes + 2 * n : 0, cell, output);
            for (int32_t i = 0; i < n; i++)
                output[i] = kiln_sigmoid(output[i]) * kiln_activate(cell[i], s->activation);
            kiln_project(s, projection, projection_bias, output, hidden);
            memcpy(y + t * s->y_time + b * s->y_batch, hidden, (size_t)s->outputs * 4);
        }
    }
}

/* Two multipliers per gate that has weights: of the sums over x and over the hidden state. */
struct lstm_int8_shape {
    KILN_LSTM_MEMBERS
    int32_t multiplier[8], shift[8];
    int32_t cell_exponent; /* the cell's scale is 2^cell_exponent */
    int32_t cell_clip;     /* 32768 where there is none */
    int32_t hidden_multiplier, hidden_shift, hidden_zero_point;
};

/* A gate's sums, with 3 integer bits; zero points are folded into the biases, (2, cells). */
KILN_INLINE void kiln_lstm_sums_int8(const struct lstm_int8_shape *s, int32_t gate, const int8_t *x,
                                     const int8_t *hidden, const int8_t *weights,
                                     const int8_t *recurrent, const int32_t *bias, int16_t *sums) {
    const int32_t *multiplier = s->multiplier + 2 * gate, *shift = s->shift + 2 * gate;
    for (int32_t i = 0; i < s->cells; i++) {
        const int32_t of_x =
            bias[i] + kiln_dot_int8(x, 0, weights + i * s->features, 0, s->features);
        const int32_t of_hidden =
            bias[s->cells + i] +
            kiln_dot_int8(hidden, 0, recurrent + i * s->outputs, 0, s->outputs);
        int32_t sum = kiln_multiply_quantized(of_x, multiplier[0], shift[0]);
        sum = kiln_clamp(sum, -32768, 32767) +
              kiln_multiply_quantized(of_hidden, multiplier[1], shift[1]);
        sums[i] = (int16_t)kiln_clamp(sum, -32768, 32767);
    }
}

/* scratch: four int16 per cell. */
KILN_KERNEL void lstm_int8__reference(const struct lstm_int8_shape *s, const int8_t *x,
                                      const int8_t *weights, const int8_t *recurrent,
                                      const int32_t *bias, const int8_t *hidden_before,
                                      const int16_t *cell_before, int16_t *scratch, int8_t *y,
                                      int8_t *hidden, int16_t *cell) {
    const int32_t n = s->cells, gates = s->has_input_gate ? 4 : 3;
    kiln_carry(hidden_before, hidden, s->batch * n);
    kiln_carry(cell_before, cell, s->batch * n * 2);
    for (int32_t b = 0; b < s->batch; b++, hidden += n, cell += n) {
        for (int32_t t = 0; t < s->time; t++) {
            const int8_t *input = x + t * s->x_time + b * s->x_batch;
            int16_t *forget = scratch + (gates - 3) * n, *change = forget + n;
            int16_t *output = change + n;
            for (int32_t gate = 0; gate < gates; gate++)
                kiln_lstm_sums_int8(s, gate, input, hidden, weights + gate * n * s->features,
                                    recurrent + gate * n * n, bias + 2 * gate * n,
                                    scratch + gate * n);
            for (int32_t i = 0; i < n; i++) {
                const int32_t kept = kiln_logistic_16(forget[i]);
                const int32_t taken = gates == 3 ? 32767 - kept : kiln_logistic_16(scratch[i]);
                const int32_t added = taken * kiln_tanh_16(change[i], 3);
                const int32_t sum = kiln_rounding_shift_right(kept * cell[i], 15) +
                                    kiln_rounding_shift_right(added, 30 + s->cell_exponent);
                cell[i] = (int16_t)kiln_clamp(kiln_clamp(sum, -32768, 32767), -s->cell_clip,
                                              s->cell_clip);
                const int32_t product =
                    kiln_logistic_16(output[i]) * kiln_tanh_16(cell[i], 15 + s->cell_exponent);
                const int32_t value =
                    kiln_multiply_quantized(product, s->hidden_multiplier, s->hidden_shift);
                hidden[i] = (int8_t)kiln_clamp(value + s->hidden_zero_point, -128, 127);
            }
            memcpy(y + t * s->y_time + b * s->y_batch, hidden, (size_t)n);
        }
    }
}

#endif
