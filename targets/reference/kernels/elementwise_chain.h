/* Several float32 elementwise operators in one pass over memory: values stay in registers. */
#ifndef REFERENCE_ELEMENTWISE_CHAIN_H
#define REFERENCE_ELEMENTWISE_CHAIN_H

#include "reference/kernels/binary.h"
#include "reference/kernels/unary.h"

#define KILN_CHAIN_INPUTS 8
#define KILN_CHAIN_NUMBERS 16
#define KILN_CHAIN_STAGES 16

/* Loops of up to 16 rounds whose number is a constant of the shape: straight-line code. */
#if defined(__clang__)
#define KILN_UNROLL _Pragma("clang loop unroll(enable)")
#elif defined(__GNUC__)
#define KILN_UNROLL _Pragma("GCC unroll 16")
#else
#define KILN_UNROLL
#endif

#define KILN_STAGE_(operation) KILN_STAGE_##operation
#define KILN_STAGE(operation) KILN_STAGE_(operation)

/* KILN_STAGE_<operator>, for every operator of the two lists. */
#define KILN_EACH(operation, value) KILN_STAGE(operation),
enum kiln_stage {
#include "reference/kernels/unary_float32_list.h"
#include "reference/kernels/binary_float32_list.h"
    KILN_STAGE_COUNT
};
#undef KILN_EACH

/* Each element has a row of values: the inputs, then the numbers, then what each stage computes
 * from the values at `left` and `right`. The last one is the output. */
struct elementwise_chain_shape {
    int32_t rank; /* at least 1 */
    int32_t extent[KILN_MAX_RANK];
    int32_t inputs, numbers, stages;
    int32_t parts, end[KILN_CHAIN_INPUTS + 1]; /* of a row: where some input ends, and the last */
    int32_t length[KILN_CHAIN_INPUTS];         /* of each input's rows; zeros follow */
    int32_t stride[KILN_CHAIN_INPUTS * KILN_MAX_RANK]; /* of each input, 0 where it is repeated */
    float number[KILN_CHAIN_NUMBERS];
    int32_t operation[KILN_CHAIN_STAGES]; /* enum kiln_stage */
    int32_t left[KILN_CHAIN_STAGES], right[KILN_CHAIN_STAGES];
    float low[KILN_CHAIN_STAGES], high[KILN_CHAIN_STAGES]; /* a stage's clamp, or its parameters */
};

/* What the lists call the parameters of an operator. */
struct kiln_stage_parameters {
    float a, b, clamp_low, clamp_high;
};

#define KILN_EACH(operation, value)                                                                \
    case KILN_STAGE(operation):                                                                    \
        return value;
KILN_INLINE float kiln_stage_value(int32_t operation, float left, float right,
                                   const struct kiln_stage_parameters *s) {
    switch (operation) {
#include "reference/kernels/unary_float32_list.h"
#include "reference/kernels/binary_float32_list.h"
    }
    return left;
}
#undef KILN_EACH

KILN_INLINE float kiln_chain_input(const struct elementwise_chain_shape *s, int32_t k,
                                   int32_t begin, int32_t i, const float *row, float first) {
    if (begin >= s->length[k])
        return 0.0f;
    return s->stride[k * KILN_MAX_RANK + s->rank - 1] ? row[i] : first;
}

KILN_INLINE float kiln_chain_stage(const struct elementwise_chain_shape *s, int32_t k,
                                   const float *value) {
    const struct kiln_stage_parameters parameters = {s->low[k], s->high[k], s->low[k], s->high[k]};
    return kiln_stage_value(s->operation[k], value[s->left[k]], value[s->right[k]], &parameters);
}

KILN_INLINE void kiln_elementwise_chain(const struct elementwise_chain_shape *s, void *const *b) {
    const int32_t known = s->inputs + s->numbers;
    float *output = (float *)b[s->inputs];
    int32_t index[KILN_MAX_RANK] = {0};
    do {
        const float *row[KILN_CHAIN_INPUTS];
        float first[KILN_CHAIN_INPUTS];
        KILN_UNROLL
        for (int32_t k = 0; k < s->inputs; k++) {
            row[k] = (const float *)b[k] +
                     kiln_row_offset(s->rank, s->stride + k * KILN_MAX_RANK, index);
            first[k] = *row[k];
        }
        KILN_UNROLL
        for (int32_t part = 0; part < s->parts; part++) {
            const int32_t begin = part ? s->end[part - 1] : 0;
            KILN_INDEPENDENT
            for (int32_t i = begin; i < s->end[part]; i++) {
                float value[KILN_CHAIN_INPUTS + KILN_CHAIN_NUMBERS + KILN_CHAIN_STAGES];
                KILN_UNROLL
                for (int32_t k = 0; k < s->inputs; k++)
                    value[k] = kiln_chain_input(s, k, begin, i, row[k], first[k]);
                KILN_UNROLL
                for (int32_t k = 0; k < s->numbers; k++)
                    value[s->inputs + k] = s->number[k];
                KILN_UNROLL
                for (int32_t k = 0; k < s->stages; k++)
                    value[known + k] = kiln_chain_stage(s, k, value);
                output[i] = value[known + s->stages - 1];
            }
        }
        output += s->extent[s->rank - 1];
    } while (kiln_next_row(s->rank, s->extent, index));
}

/* As many buffers as there are inputs, then the output. */
#define elementwise_chain_float32__reference(shape, ...)                                           \
    kiln_elementwise_chain(shape, (void *const[]){__VA_ARGS__})

#endif
