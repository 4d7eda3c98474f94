/* Runs every case of a generated test program: input.bin in, output.bin out.
 *
 * The including file defines `cases` and `case_count`. input.bin holds the bytes of every buffer
 * that has any, in order; output.bin, per case, a word of damage flags and then its outputs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROLE_INPUT = 0, ROLE_OUTPUT = 1, ROLE_SCRATCH = 2 };
enum { DAMAGE_BEFORE = 1, DAMAGE_AFTER = 2, DAMAGE_INPUT = 4 };

struct case_buffer {
    uint8_t role;
    uint8_t misalign; /* bytes past an aligned address */
    int16_t alias;    /* index of the buffer whose memory this output shares, or -1 */
    uint32_t bytes;
};

struct test_case {
    void (*run)(void *const *buffers);
    uint32_t count;
    const struct case_buffer *buffers;
};

extern const struct test_case cases[];
extern const uint32_t case_count;

#define ALIGNMENT 64u
#define MOST_BUFFERS 64u
#define GUARD 64u
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define FORBID(start, count) ASAN_POISON_MEMORY_REGION(start, count) /* reads too, to the byte */
#define ALLOW(start, count) ASAN_UNPOISON_MEMORY_REGION(start, count)
#else
#define FORBID(start, count) ((void)0)
#define ALLOW(start, count) ((void)0)
#endif

static uint32_t checksum(const uint8_t *bytes, uint32_t count) {
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

static uint8_t *place(const struct case_buffer *buffer, void **memory) {
    *memory = malloc(2 * ALIGNMENT + buffer->misalign + buffer->bytes + GUARD);
    if (*memory == NULL)
        exit(70);
    uintptr_t start = ((uintptr_t)*memory + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    uint8_t *bytes = (uint8_t *)(start + buffer->misalign);
    memset(*memory, 0xA5, (size_t)(bytes - (uint8_t *)*memory));
    memset(bytes, 0x5A, buffer->bytes);
    memset(bytes + buffer->bytes, 0xA5, GUARD);
    FORBID(*memory, (size_t)(bytes - (uint8_t *)*memory));
    FORBID(bytes + buffer->bytes, GUARD);
    return bytes;
}

static uint32_t damage(const struct case_buffer *buffer, const uint8_t *bytes,
                       const uint8_t *memory) {
    uint32_t flags = 0;
    ALLOW(memory, (size_t)(bytes - memory) + buffer->bytes + GUARD);
    for (const uint8_t *p = memory; p < bytes; p++)
        if (*p != 0xA5)
            flags |= DAMAGE_BEFORE;
    for (uint32_t i = 0; i < GUARD; i++)
        if (bytes[buffer->bytes + i] != 0xA5)
            flags |= DAMAGE_AFTER;
    return flags;
}

static void run_case(const struct test_case *test, FILE *input, FILE *output) {
    void *memory[MOST_BUFFERS], *bytes[MOST_BUFFERS];
    uint32_t sums[MOST_BUFFERS], flags = 0;
    uint64_t shared = 0; /* a bit per buffer whose memory an output takes */
    for (uint32_t i = 0; i < test->count; i++) {
        const struct case_buffer *buffer = &test->buffers[i];
        memory[i] = NULL;
        if (buffer->alias >= 0) {
            shared |= (uint64_t)1 << buffer->alias;
            continue;
        }
        bytes[i] = place(buffer, &memory[i]);
        if (buffer->role != ROLE_INPUT)
            continue;
        if (fread(bytes[i], 1, buffer->bytes, input) != buffer->bytes)
            exit(71);
        sums[i] = checksum(bytes[i], buffer->bytes);
    }
    for (uint32_t i = 0; i < test->count; i++)
        if (test->buffers[i].alias >= 0)
            bytes[i] = bytes[test->buffers[i].alias];
    test->run((void *const *)bytes);
    for (uint32_t i = 0; i < test->count; i++) {
        const struct case_buffer *buffer = &test->buffers[i];
        if (buffer->alias >= 0)
            continue;
        flags |= damage(buffer, bytes[i], memory[i]);
        if (buffer->role == ROLE_INPUT && !(shared >> i & 1) &&
            sums[i] != checksum(bytes[i], buffer->bytes))
            flags |= DAMAGE_INPUT;
    }
    if (fwrite(&flags, 4, 1, output) != 1)
        exit(72);
    for (uint32_t i = 0; i < test->count; i++) {
        const struct case_buffer *buffer = &test->buffers[i];
        if (buffer->role == ROLE_OUTPUT &&
            fwrite(bytes[i], 1, buffer->bytes, output) != buffer->bytes)
            exit(72);
    }
    for (uint32_t i = 0; i < test->count; i++)
        free(memory[i]);
}

int main(void) {
    FILE *input = fopen("input.bin", "rb"), *output = fopen("output.bin", "wb");
    if (input == NULL || output == NULL)
        return 73;
    setvbuf(input, NULL, _IOFBF, 1 << 16);
    setvbuf(output, NULL, _IOFBF, 1 << 16);
    for (uint32_t i = 0; i < case_count; i++)
        run_case(&cases[i], input, output);
    fclose(input);
    return fclose(output) == 0 ? 0 : 72;
}
