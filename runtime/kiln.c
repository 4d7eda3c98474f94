/* The runtime proper: everything of kiln.h, over a blob that validate.c has found good. */
#include "kiln.h"

#include "blob.h"
#include "memory.h"
#include "validate.h"

static const blob_header *header_of(const kiln_model *model) {
    return (const blob_header *)(const void *)model->blob;
}

static const blob_tensor *tensor_of(const kiln_model *model, uint32_t index) {
    const void *first = model->blob + header_of(model)->tensors_offset;
    return (const blob_tensor *)first + index;
}

static int is_loaded(const kiln_model *model) {
    return model != NULL && model->blob != NULL;
}

kiln_status kiln_load(kiln_model *model, const kiln_code *code, const void *blob, size_t blob_bytes,
                      void *arena, size_t arena_bytes) {
    if (model == NULL)
        return KILN_BAD_ARGUMENT;
    kiln_status status = kiln_validate(code, blob, blob_bytes, arena, arena_bytes);
    if (status != KILN_OK)
        return status;
    model->blob = blob;
    model->arena = arena;
    model->code = code;
    model->hook = NULL;
    model->hook_context = NULL;
    return kiln_reset(model);
}

kiln_status kiln_reset(kiln_model *model) {
    if (!is_loaded(model))
        return KILN_NOT_LOADED;
    const blob_header *header = header_of(model);
    const uint8_t *constants = model->blob + header->constants_offset;
    uint32_t first = (uint32_t)header->counts[0] + header->counts[1];
    for (uint32_t i = 0; i < header->counts[2]; i++) {
        const blob_tensor *state = tensor_of(model, first + i);
        uint8_t *data = model->arena + state->offset;
        if (state->initial == KILN_BLOB_NO_INITIAL)
            memset(data, 0, state->bytes);
        else
            memcpy(data, constants + state->initial, state->bytes);
    }
    return KILN_OK;
}

/* The step's call; returns the step that follows. */
static const blob_step *run_step(const kiln_model *model, const blob_step *step) {
    void *operands[KILN_MAX_OPERANDS];
    const blob_operand *operand = (const blob_operand *)(const void *)(step + 1);
    uintptr_t constants = (uintptr_t)model->blob + header_of(model)->constants_offset;
    uint32_t count = step->operand_count;
    for (uint32_t i = 0; i < count; i++, operand++) {
        uint32_t offset = operand->place & ~KILN_BLOB_IN_CONSTANTS;
        int constant = offset != operand->place;
        operands[i] = (void *)((constant ? constants : (uintptr_t)model->arena) + offset);
    }
    model->code->kernels[step->kernel](operands);
    return (const blob_step *)(const void *)operand;
}

kiln_status kiln_run(kiln_model *model) {
    if (!is_loaded(model))
        return KILN_NOT_LOADED;
    const blob_header *header = header_of(model);
    const blob_step *step = (const blob_step *)(const void *)(header + 1);
    for (uint32_t i = 0; i < header->step_count; i++) {
#ifdef KILN_NO_PROFILE
        step = run_step(model, step);
#else
        if (model->hook)
            model->hook(model->hook_context, i, 1);
        step = run_step(model, step);
        if (model->hook)
            model->hook(model->hook_context, i, 0);
#endif
    }
    return KILN_OK;
}

uint32_t kiln_input_count(const kiln_model *model) {
    return is_loaded(model) ? header_of(model)->counts[KILN_ROLE_INPUT] : 0;
}

uint32_t kiln_output_count(const kiln_model *model) {
    return is_loaded(model) ? header_of(model)->counts[KILN_ROLE_OUTPUT] : 0;
}

uint32_t kiln_step_count(const kiln_model *model) {
    return is_loaded(model) ? header_of(model)->step_count : 0;
}

static void describe(const kiln_model *model, uint32_t index, kiln_tensor *tensor) {
    const blob_tensor *from = tensor_of(model, index);
    tensor->name = (const char *)(const void *)(model->blob + from->name_offset);
    tensor->data = model->arena + from->offset;
    tensor->bytes = from->bytes;
    tensor->dtype = (kiln_dtype)from->dtype;
    tensor->rank = from->rank;
    for (uint32_t i = 0; i < KILN_MAX_RANK; i++)
        tensor->shape[i] = from->shape[i];
    tensor->scale = from->scale;
    tensor->zero_point = from->zero_point;
}

kiln_status kiln_input(const kiln_model *model, uint32_t index, kiln_tensor *tensor) {
    if (!is_loaded(model))
        return KILN_NOT_LOADED;
    if (tensor == NULL || index >= kiln_input_count(model))
        return KILN_BAD_ARGUMENT;
    describe(model, index, tensor);
    return KILN_OK;
}

kiln_status kiln_output(const kiln_model *model, uint32_t index, kiln_tensor *tensor) {
    if (!is_loaded(model))
        return KILN_NOT_LOADED;
    if (tensor == NULL || index >= kiln_output_count(model))
        return KILN_BAD_ARGUMENT;
    describe(model, kiln_input_count(model) + index, tensor);
    return KILN_OK;
}

size_t kiln_arena_bytes(const void *blob, size_t blob_bytes) {
    const blob_header *header = blob;
    if (blob == NULL || (uintptr_t)blob % 4 != 0 || blob_bytes < sizeof *header ||
        header->magic != KILN_BLOB_MAGIC || header->version != KILN_BLOB_VERSION)
        return 0;
    return header->arena_bytes;
}
