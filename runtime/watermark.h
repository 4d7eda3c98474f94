/* How much of a piece of memory was ever written: fill it first, look later. */
#ifndef KILN_WATERMARK_H
#define KILN_WATERMARK_H

#include <stddef.h>

/* Fills `memory`, so that what is written afterwards can be told apart. */
void kiln_watermark_fill(void *memory, size_t bytes);

/* Bytes from the start of `memory` to the end of the last one written since the fill, rounded up
 * to 16: for memory that is used from the bottom, such as an arena. */
size_t kiln_watermark_from_start(const void *memory, size_t bytes);

/* Bytes from the first one written since the fill to the end of `memory`: for a stack that grows
 * downwards. */
size_t kiln_watermark_to_end(const void *memory, size_t bytes);

#endif
