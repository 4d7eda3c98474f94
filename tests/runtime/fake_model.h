/* A model of two small kernels, for tests; tests/support/fake_model.py makes its blob. */
#ifndef FAKE_MODEL_H
#define FAKE_MODEL_H

#include "kiln.h"

#define FAKE_ARENA_BYTES 128
#define FAKE_ELEMENTS 16

extern const kiln_code kiln_model_code;

/* A file's bytes, at a multiple of 64; ends the program where there is no such file. */
uint8_t *read_aligned(const char *path, size_t *bytes);

#endif
