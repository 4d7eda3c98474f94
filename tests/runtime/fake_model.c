/* The fake model's kernels: middle = input + table; output = middle + state, state += 1. */
#include "fake_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_table(void *const *b) {
    const int8_t *input = b[0], *table = b[1];
    int8_t *middle = b[2];
    for (int i = 0; i < FAKE_ELEMENTS; i++)
        middle[i] = (int8_t)(input[i] + table[i]);
}

static void add_state(void *const *b) {
    const int8_t *middle = b[0];
    int16_t *state = b[1];
    int32_t *output = b[2];
    for (int i = 0; i < FAKE_ELEMENTS; i++)
        output[i] = middle[i] + state[0];
    state[0]++;
}

static const kiln_kernel kernels[] = {add_table, add_state};
const kiln_code kiln_model_code = {
    kernels, 2, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};

uint8_t *read_aligned(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    *bytes = (size_t)ftell(file);
    rewind(file);
    void *data = NULL;
    /* At least one byte, and not rounded up: the sanitizer sees a read past the end. */
    if (posix_memalign(&data, 64, *bytes + (*bytes == 0)) != 0 ||
        fread(data, 1, *bytes, file) != *bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    fclose(file);
    return data;
}
