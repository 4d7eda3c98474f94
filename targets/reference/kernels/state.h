/* Copies from and to state tensors. */
#ifndef REFERENCE_STATE_H
#define REFERENCE_STATE_H

#include "memory.h"

#include "kernel.h"

struct copy_bytes_shape {
    int32_t bytes;
};

KILN_KERNEL void copy_bytes__reference(const struct copy_bytes_shape *s, const void *input,
                                       void *output) {
    memcpy(output, input, (size_t)s->bytes);
}

#endif
