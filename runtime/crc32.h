/* The CRC-32 of zlib, PNG and Ethernet. */
#ifndef KILN_CRC32_H
#define KILN_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of what `crc` is the CRC of (0: nothing) followed by `bytes`. */
uint32_t kiln_crc32(uint32_t crc, const uint8_t *bytes, size_t count);

#endif
