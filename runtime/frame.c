/* COBS both ways: in place when reading, a run at a time when writing. */
#include "frame.h"

#include "port.h"

/* A code byte c stands for c - 1 bytes and then a zero, or for 254 bytes and no zero. */
#define LONGEST_RUN 254u

__attribute__((weak)) void kiln_port_flush(void) {}

uint32_t kiln_frame_decode(uint8_t *bytes, uint32_t count) {
    uint32_t in = 0, out = 0;
    while (in < count) {
        uint32_t run = (uint32_t)bytes[in++] - 1;
        if (run > count - in)
            return 0;
        for (uint32_t i = 0; i < run; i++)
            bytes[out++] = bytes[in++];
        if (run < LONGEST_RUN && in < count)
            bytes[out++] = 0;
    }
    return out;
}

static void write_byte(uint8_t byte) {
    kiln_port_write(&byte, 1);
}

void kiln_frame_write(const uint8_t *packet, uint32_t count) {
    uint32_t at = 0;
    int more = 1;
    write_byte(0);
    while (more) {
        uint32_t run = 0;
        while (run < LONGEST_RUN && at + run < count && packet[at + run] != 0)
            run++;
        write_byte((uint8_t)(run + 1));
        kiln_port_write(packet + at, run);
        at += run;
        more = at < count;
        if (run < LONGEST_RUN)
            at++; /* the zero that the code byte stands for */
    }
    write_byte(0);
    kiln_port_flush();
}
