/* This core's peak: float32 fused multiply-adds and int8 dot products out of registers, in
 * multiply-accumulates per nanosecond. Built once per instruction set. */
#include <immintrin.h>
#include <stdio.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Twelve chains hide the latency; `STEP` is one instruction, or group of them, on chain i. */
#define TWELVE(STEP)                                                                               \
    STEP(0)                                                                                        \
    STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11)
#define ROUNDS 20000
#define DECLARE(i) VECTOR s##i = ZERO;
#define USE(i) __asm__ volatile("" : : CONSTRAINT(s##i));

#ifdef __AVX512VNNI__
#define VECTOR __m512i
#define ZERO _mm512_setzero_si512()
#define CONSTRAINT "v"
#define LANES 16
#define FMA(i) __asm__ volatile("vfmadd231ps %1, %1, %0" : "+v"(s##i) : "v"(x));
#define DOT(i) __asm__ volatile("vpdpbusd %1, %1, %0" : "+v"(s##i) : "v"(x));
#else
#define VECTOR __m256i
#define ZERO _mm256_setzero_si256()
#define CONSTRAINT "x"
#define LANES 8
#define FMA(i) __asm__ volatile("vfmadd231ps %1, %1, %0" : "+x"(s##i) : "x"(x));
#ifdef __AVXVNNI__
#define DOT(i) __asm__ volatile("{vex} vpdpbusd %1, %1, %0" : "+x"(s##i) : "x"(x));
#else
/* Without a dot product: multiply to 16 bits, add pairs, add. */
#define DOT(i)                                                                                     \
    {                                                                                              \
        VECTOR t;                                                                                  \
        __asm__ volatile("vpmaddubsw %2, %2, %1\n\tvpmaddwd %2, %1, %1\n\tvpaddd %1, %0, %0"       \
                         : "+x"(s##i), "=&x"(t)                                                    \
                         : "x"(x));                                                                \
    }
#endif
#endif

/* The loop is a function of its own: across calls no vector register is kept. */
#define MEASURE(name, STEP, macs)                                                                  \
    __attribute__((noinline)) static void name##_loop(VECTOR x) {                                  \
        TWELVE(DECLARE)                                                                            \
        for (int i = 0; i < ROUNDS; i++) {                                                         \
            TWELVE(STEP)                                                                           \
        }                                                                                          \
        TWELVE(USE)                                                                                \
    }                                                                                              \
    static double name(VECTOR x) {                                                                 \
        double best = 0;                                                                           \
        for (int repeat = 0; repeat < 50; repeat++) {                                              \
            double start = now();                                                                  \
            name##_loop(x);                                                                        \
            double rate = 12.0 * ROUNDS * (macs) / (now() - start);                                \
            best = rate > best ? rate : best;                                                      \
        }                                                                                          \
        return best;                                                                               \
    }

MEASURE(fma_rate, FMA, LANES)
MEASURE(dot_rate, DOT, 4 * LANES)

int main(void) {
    VECTOR x = ZERO;
    fma_rate(x); /* the clock goes up */
    printf("{\"float32\": %.2f, \"int8\": %.2f}\n", fma_rate(x), dot_rate(x));
    return 0;
}
