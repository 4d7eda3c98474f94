/* All that a platform provides: a clock, bytes in, bytes out. boards/ implements it. */
#ifndef KILN_PORT_H
#define KILN_PORT_H

#include <stddef.h>
#include <stdint.h>

/* Called once, before everything else. */
void kiln_port_init(void);

/* Only where an operating system gives arguments; called before kiln_port_init. */
void kiln_port_arguments(int argc, char **argv);

/* A free-running counter and what one tick of it is: see kiln_port_clock_unit. */
uint64_t kiln_port_clock(void);

/* What kiln_port_clock counts, and the fraction numerator/denominator that turns ticks into it. */
typedef enum kiln_clock_unit {
    KILN_CYCLES = 0,
    KILN_INSTRUCTIONS = 1,
    KILN_NANOSECONDS = 2
} kiln_clock_unit;
typedef struct kiln_clock {
    kiln_clock_unit unit;
    uint32_t numerator, denominator;
} kiln_clock;
kiln_clock kiln_port_clock_info(void);

/* The next byte (0..255), or -1 if none has come. -2 where the other side has gone for good. */
int kiln_port_read(void);

void kiln_port_write(const uint8_t *bytes, size_t count);

/* Sends what was written and still waits. A port that sends at once need not have one. */
void kiln_port_flush(void);

/* Called when there is nothing to do; may sleep until a byte comes. */
void kiln_port_idle(void);

/* The most bytes of stack used so far; 0 where it is not known. */
uint32_t kiln_port_stack_bytes(void);

/* Restarts the board; may return where there is no way to. */
void kiln_port_reset(void);

#endif
