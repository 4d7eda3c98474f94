/* Kiln runtime: loads a model blob in place and runs it in one arena. No heap, no libc. */
#ifndef KILN_H
#define KILN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every function returns KILN_OK or a negative status; kiln_status_text names it. */
typedef enum kiln_status {
    KILN_OK = 0,
    KILN_BAD_ARGUMENT = -1,  /* a null pointer, or an index out of range */
    KILN_BAD_MAGIC = -2,     /* not a Kiln blob */
    KILN_BAD_VERSION = -3,   /* a blob of another format version */
    KILN_BAD_SIZE = -4,      /* fewer bytes than the header says */
    KILN_BAD_CRC = -5,       /* damaged */
    KILN_BAD_STRUCTURE = -6, /* an offset, count or size outside its bounds */
    KILN_WRONG_CODE = -7,    /* made for other kernels than those linked in */
    KILN_ARENA_TOO_SMALL = -8,
    KILN_MISALIGNED = -9, /* the blob or the arena is not aligned as required */
    KILN_NOT_LOADED = -10
} kiln_status;

typedef enum kiln_dtype {
    KILN_FLOAT32,
    KILN_FLOAT16,
    KILN_INT8,
    KILN_UINT8,
    KILN_INT16,
    KILN_UINT16,
    KILN_INT32,
    KILN_UINT32,
    KILN_INT64,
    KILN_UINT64,
    KILN_BOOL,
    KILN_FLOAT64
} kiln_dtype;

#define KILN_MAX_RANK 8
#define KILN_MAX_OPERANDS 64

/* A kernel call of model_kernels.c: pointers to its operands, in order. */
typedef void (*kiln_kernel)(void *const *operands);

/* The code that a blob is made for; model_kernels.c defines one. */
typedef struct kiln_code {
    const kiln_kernel *kernels;
    uint32_t kernel_count;
    uint8_t hash[16];
} kiln_code;

/* An input, output or state tensor, as the caller sees it. */
typedef struct kiln_tensor {
    const char *name;
    void *data; /* in the arena */
    uint32_t bytes;
    kiln_dtype dtype;
    uint32_t rank;
    uint32_t shape[KILN_MAX_RANK];
    float scale; /* 0 where the tensor is not quantized */
    int32_t zero_point;
} kiln_tensor;

/* Called before (enter = 1) and after (enter = 0) each step, where one is set. */
typedef void (*kiln_step_hook)(void *context, uint32_t step, int enter);

/* The caller's; zeroed, it is not loaded. The hook may be set after kiln_load, the rest is the
 * runtime's. */
typedef struct kiln_model {
    const uint8_t *blob;
    uint8_t *arena;
    const kiln_code *code;
    kiln_step_hook hook;
    void *hook_context;
} kiln_model;

/* Validates the whole blob, then sets up `model` to run in `arena`. On failure nothing is
 * written. Blob and arena must stay where they are while the model is used. */
kiln_status kiln_load(kiln_model *model, const kiln_code *code, const void *blob, size_t blob_bytes,
                      void *arena, size_t arena_bytes);

/* Sets every state tensor to its initial value. kiln_load has done it once. */
kiln_status kiln_reset(kiln_model *model);

/* Runs every step. Inputs are read from, and outputs left in, the arena. An input's memory may
 * be reused while the model runs: write all inputs before each run. */
kiln_status kiln_run(kiln_model *model);

uint32_t kiln_input_count(const kiln_model *model);
uint32_t kiln_output_count(const kiln_model *model);
uint32_t kiln_step_count(const kiln_model *model);
kiln_status kiln_input(const kiln_model *model, uint32_t index, kiln_tensor *tensor);
kiln_status kiln_output(const kiln_model *model, uint32_t index, kiln_tensor *tensor);

/* Bytes of arena that a valid blob needs; 0 if its header is not that of a blob. */
size_t kiln_arena_bytes(const void *blob, size_t blob_bytes);

const char *kiln_status_text(kiln_status status);

#ifdef __cplusplus
}
#endif
#endif
