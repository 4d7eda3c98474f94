/* The kernels of tests/support/fake_model.py's blob, as the compiler would write them. */
#include "kiln.h"
#include "kiln_model.h"

enum { ELEMENTS = 16 };

static void add_table(void *const *b) {
    const int8_t *input = b[0], *table = b[1];
    int8_t *middle = b[2];
    for (int i = 0; i < ELEMENTS; i++)
        middle[i] = (int8_t)(input[i] + table[i]);
}

static void add_state(void *const *b) {
    const int8_t *middle = b[0];
    int16_t *state = b[1];
    int32_t *output = b[2];
    for (int i = 0; i < ELEMENTS; i++)
        output[i] = middle[i] + state[0];
    state[0]++;
}

static const kiln_kernel kernels[] = {add_table, add_state};
const kiln_code kiln_model_code = {
    kernels, 2, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
