/* Joins names for the bodies that are included once per instruction set. */
#ifndef SIMD_NAMES_H
#define SIMD_NAMES_H

#define SIMD_JOIN_(a, b) a##b
#define SIMD_JOIN(a, b) SIMD_JOIN_(a, b)

#endif
