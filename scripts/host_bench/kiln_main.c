/* Times a linked-in model in its own process: the protocol of worker.py, by this process's clock.
 */
#include "kiln.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

extern const kiln_code kiln_model_code;
extern const unsigned char kiln_model_blob[];
extern const uint32_t kiln_model_blob_bytes;

static _Alignas(64) unsigned char arena[ARENA_BYTES];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static long interruptions(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
}

/* Most memory resident so far; getrusage's figure would include the parent's. */
static long peak_kb(void) {
    char line[128];
    long peak = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            peak = atol(line + 6);
    if (status != NULL)
        fclose(status);
    return peak;
}

static void fill_inputs(const kiln_model *model) {
    unsigned state = 1;
    kiln_tensor tensor;
    for (uint32_t i = 0; i < kiln_input_count(model); i++) {
        kiln_input(model, i, &tensor);
        for (uint32_t j = 0; j < tensor.bytes; j++) {
            state = state * 1664525u + 1013904223u;
            ((unsigned char *)tensor.data)[j] = (unsigned char)(state >> 24);
        }
        if (tensor.dtype == KILN_FLOAT32)
            for (uint32_t j = 0; j < tensor.bytes / 4; j++)
                ((float *)tensor.data)[j] = (float)((unsigned char *)tensor.data)[4 * j] / 128 - 1;
    }
}

static void sample(kiln_model *model, long count) {
    fill_inputs(model);
    for (long i = 0; i < (count > 4 ? count / 4 : 1); i++)
        kiln_run(model);
    long before = interruptions();
    double start = now();
    for (long i = 0; i < count; i++)
        kiln_run(model);
    double nanoseconds = (now() - start) / (double)count;
    printf("{\"ns\": %.3f, \"interrupted\": %ld}\n", nanoseconds, interruptions() - before);
    fflush(stdout);
}

int main(void) {
    const double start = now();
    kiln_model model;
    memset(&model, 0, sizeof model);
    kiln_status status = kiln_load(&model, &kiln_model_code, kiln_model_blob, kiln_model_blob_bytes,
                                   arena, sizeof arena);
    if (status != KILN_OK) {
        fprintf(stderr, "%s\n", kiln_status_text(status));
        return 1;
    }
    fill_inputs(&model);
    kiln_run(&model);
    const double ready = now();
    printf("{\"start_ms\": %.4f, \"memory_kb\": %ld}\n", (ready - start) / 1e6, peak_kb());
    fflush(stdout);
    char line[32];
    while (fgets(line, sizeof line, stdin) != NULL)
        sample(&model, atol(line));
    return 0;
}
