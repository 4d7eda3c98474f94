/* Finds the high-water mark of an arena or a stack by a fill pattern. */
#include "watermark.h"

#include <stdint.h>

/* Differs from byte to byte, so that 16 bytes of data in a row do not look untouched. */
static uint8_t pattern(size_t index) {
    return (uint8_t)(0xA5 ^ (index * 29));
}

void kiln_watermark_fill(void *memory, size_t bytes) {
    uint8_t *at = memory;
    for (size_t i = 0; i < bytes; i++)
        at[i] = pattern(i);
}

size_t kiln_watermark_from_start(const void *memory, size_t bytes) {
    const uint8_t *at = memory;
    size_t used = bytes;
    while (used > 0 && at[used - 1] == pattern(used - 1))
        used--;
    size_t rounded = (used + 15) / 16 * 16;
    return rounded < bytes ? rounded : bytes;
}

size_t kiln_watermark_to_end(const void *memory, size_t bytes) {
    const uint8_t *at = memory;
    size_t first = 0;
    while (first < bytes && at[first] == pattern(first))
        first++;
    return bytes - first;
}
