/* The four memory functions that compilers call anyway, declared without a libc. */
#ifndef KILN_MEMORY_H
#define KILN_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
#include <string.h>
#else
void *memcpy(void *restrict to, const void *restrict from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);
int memcmp(const void *a, const void *b, size_t count);
#endif

#endif
