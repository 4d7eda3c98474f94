/* memcpy, memmove, memset and memcmp for boards without a libc. */
#include "memory.h"

#include <stdint.h>

/* Else the compiler may recognise these loops and turn them into calls of themselves. */
#if defined(__clang__)
#define KILN_PLAIN __attribute__((no_builtin("memcpy", "memmove", "memset")))
#else
#define KILN_PLAIN __attribute__((optimize("no-tree-loop-distribute-patterns")))
#endif

/* A word that may alias what the caller has there. */
typedef uintptr_t __attribute__((may_alias)) word;

static int is_aligned(const void *a, const void *b) {
    return ((uintptr_t)a | (uintptr_t)b) % sizeof(word) == 0;
}

/* From the first byte to the last; right for overlapping memory where `to` is below `from`. */
KILN_PLAIN static void copy_upwards(uint8_t *to, const uint8_t *from, size_t count) {
    if (is_aligned(to, from))
        for (; count >= sizeof(word); count -= sizeof(word)) {
            *(word *)(void *)to = *(const word *)(const void *)from;
            to += sizeof(word);
            from += sizeof(word);
        }
    while (count-- > 0)
        *to++ = *from++;
}

void *memcpy(void *restrict to, const void *restrict from, size_t count) {
    copy_upwards(to, from, count);
    return to;
}

KILN_PLAIN void *memmove(void *to, const void *from, size_t count) {
    uint8_t *out = to;
    const uint8_t *in = from;
    if ((uintptr_t)out - (uintptr_t)in >= count)
        copy_upwards(out, in, count);
    else
        while (count-- > 0)
            out[count] = in[count];
    return to;
}

KILN_PLAIN void *memset(void *to, int value, size_t count) {
    uint8_t *out = to;
    word pattern = (word)-1 / 255 * (uint8_t)value;
    for (; count > 0 && !is_aligned(out, out); count--)
        *out++ = (uint8_t)value;
    for (; count >= sizeof(word); count -= sizeof(word)) {
        *(word *)(void *)out = pattern;
        out += sizeof(word);
    }
    while (count-- > 0)
        *out++ = (uint8_t)value;
    return to;
}

KILN_PLAIN int memcmp(const void *a, const void *b, size_t count) {
    const uint8_t *x = a, *y = b;
    for (; count > 0; count--, x++, y++)
        if (*x != *y)
            return *x < *y ? -1 : 1;
    return 0;
}
