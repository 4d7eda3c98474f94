/* The check of a whole blob, done once; private to the runtime. */
#ifndef KILN_VALIDATE_H
#define KILN_VALIDATE_H

#include "kiln.h"

/* Whether `blob` keeps every rule of BLOB.md, for these kernels and this arena. Writes nothing. */
kiln_status kiln_validate(const kiln_code *code, const void *blob, size_t blob_bytes,
                          const void *arena, size_t arena_bytes);

#endif
