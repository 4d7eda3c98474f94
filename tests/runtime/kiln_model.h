/* Stands in for the header that the compiler makes: the fake model's. */
#ifndef KILN_MODEL_H
#define KILN_MODEL_H

#include "fake_model.h"

#define KILN_ARENA_BYTES FAKE_ARENA_BYTES
#define KILN_ARENA_ALIGNMENT 16
#define KILN_INPUT_0_BYTES FAKE_ELEMENTS

extern const kiln_code kiln_model_code;
extern const uint8_t kiln_model_blob[];
extern const uint32_t kiln_model_blob_bytes;

#endif
