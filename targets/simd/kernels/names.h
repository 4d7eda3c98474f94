/* Joined names and loop pragmas for the bodies that are included once per instruction set. */
#ifndef SIMD_NAMES_H
#define SIMD_NAMES_H

#define SIMD_JOIN_(a, b) a##b
#define SIMD_JOIN(a, b) SIMD_JOIN_(a, b)

/* Loops over the registers of a tile are unrolled, so that its arrays become registers; where a
 * shape is not constant they cannot be, which is slower but right. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define SIMD_UNROLL _Pragma("clang loop unroll(full)")
#define SIMD_NO_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define SIMD_UNROLL _Pragma("GCC unroll 16")
#define SIMD_NO_UNROLL _Pragma("GCC unroll 1")
#endif

#endif
