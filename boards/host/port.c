/* port.h on POSIX: a process that serves its standard input and output, or one TCP connection. */
#define _POSIX_C_SOURCE 200809L
#include "port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int tcp_port = -1; /* none */
static int input = STDIN_FILENO, output = STDOUT_FILENO;
static char **program;

/* Bytes that came and were not yet asked for. */
static uint8_t received[4096];
static size_t received_next, received_end;
static int peer_has_gone;

/* Bytes written and not yet sent: a frame is one packet, not hundreds. */
static uint8_t waiting[4096];
static size_t waiting_bytes;

static void fail(const char *what) {
    fprintf(stderr, "kiln: %s: %s\n", what, strerror(errno));
    exit(1);
}

void kiln_port_arguments(int argc, char **argv) {
    program = argv;
    for (int i = 1; i < argc; i++) {
        char *end = NULL;
        if (strcmp(argv[i], "--tcp") == 0 && i + 1 < argc) {
            long value = strtol(argv[++i], &end, 10);
            if (*end == 0 && value >= 0 && value <= 65535) {
                tcp_port = (int)value;
                continue;
            }
        }
        fprintf(stderr, "usage: %s [--tcp PORT]   (PORT 0: any; it is printed)\n", argv[0]);
        exit(2);
    }
}

/* Waits for one connection on the loopback interface's port. */
static void accept_peer(void) {
    struct sockaddr_in address = {0};
    socklen_t bytes = sizeof address;
    int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0)
        fail("socket");
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)tcp_port);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0)
        fail("bind");
    if (listen(listener, 1) != 0)
        fail("listen");
    if (getsockname(listener, (struct sockaddr *)&address, &bytes) != 0)
        fail("getsockname");
    printf("%u\n", (unsigned)ntohs(address.sin_port));
    fflush(stdout);
    input = output = accept(listener, NULL, NULL);
    if (input < 0)
        fail("accept");
    setsockopt(input, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    close(listener);
}

/* Where an emulator counts this program's instructions (boards/qemu/count.c); else null. */
static const volatile uint64_t *instructions;

static void find_instruction_counter(void) {
    const char *path = getenv("KILN_INSTRUCTION_COUNTER");
    int file = path == NULL ? -1 : open(path, O_RDONLY);
    if (file < 0)
        return;
    void *counter = mmap(NULL, sizeof *instructions, PROT_READ, MAP_SHARED, file, 0);
    if (counter != MAP_FAILED)
        instructions = counter;
    close(file);
}

void kiln_port_init(void) {
    signal(SIGPIPE, SIG_IGN);
    find_instruction_counter();
    if (tcp_port >= 0)
        accept_peer();
}

uint64_t kiln_port_clock(void) {
    struct timespec now;
    if (instructions != NULL)
        return *instructions;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

kiln_clock kiln_port_clock_info(void) {
    kiln_clock info = {instructions != NULL ? KILN_INSTRUCTIONS : KILN_NANOSECONDS, 1, 1};
    return info;
}

void kiln_port_flush(void) {
    for (size_t sent = 0; sent < waiting_bytes && !peer_has_gone;) {
        ssize_t count = write(output, waiting + sent, waiting_bytes - sent);
        if (count > 0)
            sent += (size_t)count;
        else if (errno != EINTR)
            peer_has_gone = 1;
    }
    waiting_bytes = 0;
}

void kiln_port_write(const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        waiting[waiting_bytes++] = bytes[i];
        if (waiting_bytes == sizeof waiting)
            kiln_port_flush();
    }
}

int kiln_port_read(void) {
    if (received_next < received_end)
        return received[received_next++];
    return peer_has_gone ? -2 : -1;
}

void kiln_port_idle(void) {
    struct pollfd ready = {input, POLLIN, 0};
    if (poll(&ready, 1, -1) < 0) {
        if (errno != EINTR)
            peer_has_gone = 1;
        return;
    }
    ssize_t count = read(input, received, sizeof received);
    if (count > 0) {
        received_next = 0;
        received_end = (size_t)count;
    } else if (count == 0 || errno != EINTR) {
        peer_has_gone = 1;
    }
}

/* Not known: the system grows the stack as it is used. */
uint32_t kiln_port_stack_bytes(void) {
    return 0;
}

/* A fresh start of the same program on the same streams; returns only if that is impossible. */
void kiln_port_reset(void) {
    if (tcp_port < 0 && program != NULL)
        execv(program[0], program);
}
