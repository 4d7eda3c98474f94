/* Unit tests of kiln.h on the fake model: `runtime_test BLOB CASE`; silent and 0 if all holds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_model.h"

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static uint8_t *blob;
static size_t blob_bytes;
static _Alignas(64) uint8_t arena[FAKE_ARENA_BYTES];

static kiln_model loaded(void) {
    kiln_model model;
    EXPECT(kiln_load(&model, &kiln_model_code, blob, blob_bytes, arena, sizeof arena) == KILN_OK);
    return model;
}

/* Runs once on input 0, 1, 2, ...; output[i] is i + table[i] + state, table[i] = 3 * i. */
static void run_and_expect(kiln_model *model, int32_t state) {
    kiln_tensor input, output;
    EXPECT(kiln_input(model, 0, &input) == KILN_OK);
    EXPECT(kiln_output(model, 0, &output) == KILN_OK);
    for (int i = 0; i < FAKE_ELEMENTS; i++)
        ((int8_t *)input.data)[i] = (int8_t)i;
    EXPECT(kiln_run(model) == KILN_OK);
    for (int i = 0; i < FAKE_ELEMENTS; i++)
        EXPECT(((int32_t *)output.data)[i] == 4 * i + state);
}

static void test_run(void) {
    kiln_model model = loaded();
    run_and_expect(&model, 100); /* the state's initial value */
    run_and_expect(&model, 101); /* persists */
    EXPECT(kiln_reset(&model) == KILN_OK);
    run_and_expect(&model, 100);
}

static void test_tensors(void) {
    kiln_model model = loaded();
    kiln_tensor tensor;
    EXPECT(kiln_input_count(&model) == 1 && kiln_output_count(&model) == 1);
    EXPECT(kiln_step_count(&model) == 2);
    EXPECT(kiln_input(&model, 0, &tensor) == KILN_OK);
    EXPECT(strcmp(tensor.name, "input") == 0 && tensor.dtype == KILN_INT8);
    EXPECT(tensor.bytes == 16 && tensor.rank == 2);
    EXPECT(tensor.shape[0] == 1 && tensor.shape[1] == 16 && tensor.shape[2] == 0);
    EXPECT(tensor.scale == 0.5f && tensor.zero_point == -3);
    EXPECT(tensor.data == arena);
    EXPECT(kiln_output(&model, 0, &tensor) == KILN_OK);
    EXPECT(strcmp(tensor.name, "output") == 0 && tensor.dtype == KILN_INT32);
    EXPECT(kiln_input(&model, 1, &tensor) == KILN_BAD_ARGUMENT);
    EXPECT(kiln_output(&model, 1, &tensor) == KILN_BAD_ARGUMENT);
    EXPECT(kiln_output(&model, 0, NULL) == KILN_BAD_ARGUMENT);
}

static void test_not_loaded(void) {
    kiln_model model = {0};
    kiln_tensor tensor;
    EXPECT(kiln_run(&model) == KILN_NOT_LOADED && kiln_run(NULL) == KILN_NOT_LOADED);
    EXPECT(kiln_reset(&model) == KILN_NOT_LOADED);
    EXPECT(kiln_input(&model, 0, &tensor) == KILN_NOT_LOADED);
    EXPECT(kiln_input_count(&model) == 0 && kiln_step_count(&model) == 0);
}

static uint32_t trace[8];
static uint32_t trace_length;

static void record(void *context, uint32_t step, int enter) {
    EXPECT(context == (void *)trace && trace_length < 8);
    trace[trace_length++] = step * 2 + (enter ? 0 : 1);
}

static void test_hook(void) {
    kiln_model model = loaded();
    model.hook = record;
    model.hook_context = trace;
    EXPECT(kiln_run(&model) == KILN_OK);
#ifdef KILN_NO_PROFILE
    EXPECT(trace_length == 0);
#else
    EXPECT(trace_length == 4);
    for (uint32_t i = 0; i < 4; i++)
        EXPECT(trace[i] == i);
#endif
}

static void test_arguments(void) {
    kiln_model model;
    const kiln_code *code = &kiln_model_code;
    EXPECT(kiln_load(NULL, code, blob, blob_bytes, arena, 128) == KILN_BAD_ARGUMENT);
    EXPECT(kiln_load(&model, NULL, blob, blob_bytes, arena, 128) == KILN_BAD_ARGUMENT);
    EXPECT(kiln_load(&model, code, NULL, blob_bytes, arena, 128) == KILN_BAD_ARGUMENT);
    EXPECT(kiln_load(&model, code, blob, blob_bytes, NULL, 128) == KILN_BAD_ARGUMENT);
    EXPECT(kiln_load(&model, code, blob, blob_bytes, arena, 127) == KILN_ARENA_TOO_SMALL);
    EXPECT(kiln_load(&model, code, blob, blob_bytes, arena + 4, 128) == KILN_MISALIGNED);
    for (size_t shift = 1; shift < 16; shift++) {
        void *memory = NULL;
        EXPECT(posix_memalign(&memory, 64, blob_bytes + shift) == 0);
        uint8_t *moved = (uint8_t *)memory + shift;
        memcpy(moved, blob, blob_bytes);
        EXPECT(kiln_load(&model, code, moved, blob_bytes, arena, 128) == KILN_MISALIGNED);
        free(memory);
    }
    kiln_code other = kiln_model_code;
    other.hash[15] ^= 1;
    EXPECT(kiln_load(&model, &other, blob, blob_bytes, arena, 128) == KILN_WRONG_CODE);
    other = kiln_model_code;
    other.kernel_count = 1;
    EXPECT(kiln_load(&model, &other, blob, blob_bytes, arena, 128) == KILN_BAD_STRUCTURE);
}

static void test_helpers(void) {
    EXPECT(kiln_arena_bytes(blob, blob_bytes) == 128);
    EXPECT(kiln_arena_bytes(blob, 63) == 0 && kiln_arena_bytes(NULL, 64) == 0);
    EXPECT(kiln_arena_bytes(arena, sizeof arena) == 0);
    EXPECT(strcmp(kiln_status_text(KILN_OK), "ok") == 0);
    EXPECT(strcmp(kiln_status_text(KILN_NOT_LOADED), "no model is loaded") == 0);
    EXPECT(strcmp(kiln_status_text((kiln_status)1), "unknown status") == 0);
    EXPECT(strcmp(kiln_status_text((kiln_status)-11), "unknown status") == 0);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"run", test_run},   {"tensors", test_tensors},     {"not_loaded", test_not_loaded},
        {"hook", test_hook}, {"arguments", test_arguments}, {"helpers", test_helpers},
    };
    EXPECT(argc == 3);
    blob = read_aligned(argv[1], &blob_bytes);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(cases[i].name, argv[2]) == 0) {
            cases[i].run();
            free(blob);
            return 0;
        }
    fprintf(stderr, "no case %s\n", argv[2]);
    return 2;
}
