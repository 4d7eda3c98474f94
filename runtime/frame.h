/* Frames on the wire: COBS between zero bytes; and little-endian numbers at any address. */
#ifndef KILN_FRAME_H
#define KILN_FRAME_H

#include <stdint.h>

/* Undoes COBS in place. Returns the bytes left, or 0 where it is not COBS. */
uint32_t kiln_frame_decode(uint8_t *bytes, uint32_t count);

/* Writes a packet as a frame to the port. */
void kiln_frame_write(const uint8_t *packet, uint32_t count);

static inline uint32_t kiln_get(const uint8_t *from, uint32_t count) {
    uint32_t value = 0;
    while (count-- > 0)
        value = value << 8 | from[count];
    return value;
}

static inline uint8_t *kiln_put(uint8_t *to, uint64_t value, uint32_t count) {
    for (; count > 0; count--, value >>= 8)
        *to++ = (uint8_t)value;
    return to;
}

#endif
