/* Checks every number of a blob before any is used: see BLOB.md for the rules. */
#include "validate.h"

#include "blob.h"
#include "crc32.h"
#include "memory.h"

/* Whether [offset, offset + bytes) is inside [0, limit); cannot overflow. */
static int within(uint32_t offset, uint32_t bytes, uint32_t limit) {
    return bytes <= limit && offset <= limit - bytes;
}

static int is_power_of_two(uint32_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

static uint32_t constants_bytes(const blob_header *header) {
    return header->blob_bytes - header->constants_offset;
}

static kiln_status check_identity(const blob_header *header, size_t bytes, const kiln_code *code) {
    if (bytes < sizeof *header)
        return KILN_BAD_SIZE;
    if (header->magic != KILN_BLOB_MAGIC)
        return KILN_BAD_MAGIC;
    if (header->version != KILN_BLOB_VERSION)
        return KILN_BAD_VERSION;
    if (header->blob_bytes < sizeof *header || header->blob_bytes > bytes)
        return KILN_BAD_SIZE;
    const uint8_t *blob = (const uint8_t *)header;
    uint32_t crc = kiln_crc32(0, blob, offsetof(blob_header, crc));
    size_t after = offsetof(blob_header, code_hash);
    crc = kiln_crc32(crc, blob + after, header->blob_bytes - after);
    if (crc != header->crc)
        return KILN_BAD_CRC;
    return memcmp(header->code_hash, code->hash, sizeof code->hash) ? KILN_WRONG_CODE : KILN_OK;
}

static int sections_are_good(const blob_header *header) {
    uint32_t tensors = (uint32_t)header->counts[0] + header->counts[1] + header->counts[2];
    uint32_t at = header->tensors_offset, names = header->names_offset;
    uint32_t constants = header->constants_offset;
    const uint8_t *blob = (const uint8_t *)header;
    return header->numerics < KILN_BLOB_NUMERICS && header->zero == 0 && header->zero_2 == 0 &&
           header->arena_bytes < KILN_BLOB_IN_CONSTANTS &&
           is_power_of_two(header->arena_alignment) && header->arena_alignment >= 4 &&
           header->arena_alignment <= KILN_BLOB_MAX_ALIGNMENT && sizeof *header <= at &&
           at <= names && names < constants && constants <= header->blob_bytes && at % 4 == 0 &&
           constants % KILN_BLOB_CONSTANTS_ALIGNMENT == 0 &&
           names - at == tensors * sizeof(blob_tensor) && blob[constants - 1] == 0;
}

static int operands_are_good(const blob_header *header, const blob_operand *operand,
                             uint32_t count) {
    for (; count > 0; count--, operand++) {
        uint32_t offset = operand->place & ~KILN_BLOB_IN_CONSTANTS;
        int constant = offset != operand->place;
        uint32_t limit = constant ? constants_bytes(header) : header->arena_bytes;
        if (!within(offset, operand->bytes, limit))
            return 0;
    }
    return 1;
}

static int steps_are_good(const blob_header *header, uint32_t kernel_count) {
    const uint8_t *at = (const uint8_t *)header + sizeof *header;
    uint32_t left = header->tensors_offset - (uint32_t)sizeof *header;
    for (uint32_t i = 0; i < header->step_count; i++) {
        const blob_step *step = (const blob_step *)(const void *)at;
        if (left < sizeof *step)
            return 0;
        uint32_t count = step->operand_count;
        uint32_t bytes = (uint32_t)(sizeof *step + count * sizeof(blob_operand));
        if (step->kernel >= kernel_count || count > KILN_MAX_OPERANDS || left < bytes)
            return 0;
        if (!operands_are_good(header, (const blob_operand *)(const void *)(step + 1), count))
            return 0;
        at += bytes;
        left -= bytes;
    }
    return left == 0;
}

/* Bytes of a tensor of that shape; 0xFFFFFFFF, which no arena has, if it is not well-formed. */
static uint32_t bytes_of_shape(const blob_tensor *tensor, uint32_t element_bytes) {
    uint64_t bytes = element_bytes;
    for (uint32_t i = 0; i < KILN_MAX_RANK; i++) {
        if (i < tensor->rank)
            bytes *= tensor->shape[i];
        else if (tensor->shape[i] != 0)
            return UINT32_MAX;
        if (bytes >= UINT32_MAX)
            return UINT32_MAX;
    }
    return (uint32_t)bytes;
}

static int tensor_is_good(const blob_header *header, const blob_tensor *tensor, uint8_t role) {
    static const uint8_t element_bytes[] = {4, 2, 1, 1, 2, 2, 4, 4, 8, 8, 1, 8};
    if (tensor->role != role || tensor->dtype >= sizeof element_bytes ||
        tensor->rank > KILN_MAX_RANK || tensor->zero != 0 || tensor->zero_2 != 0 ||
        tensor->name_offset < header->names_offset ||
        tensor->name_offset >= header->constants_offset)
        return 0;
    uint32_t element = element_bytes[tensor->dtype];
    if (tensor->bytes != bytes_of_shape(tensor, element) ||
        tensor->offset % (element > 4 ? 4 : element) != 0 ||
        !within(tensor->offset, tensor->bytes, header->arena_bytes))
        return 0;
    return tensor->initial == KILN_BLOB_NO_INITIAL ||
           (role == KILN_ROLE_STATE &&
            within(tensor->initial, tensor->bytes, constants_bytes(header)));
}

static int tensors_are_good(const blob_header *header) {
    const void *first = (const uint8_t *)header + header->tensors_offset;
    const blob_tensor *tensor = first;
    for (uint8_t role = KILN_ROLE_INPUT; role <= KILN_ROLE_STATE; role++)
        for (uint32_t i = 0; i < header->counts[role]; i++)
            if (!tensor_is_good(header, tensor++, role))
                return 0;
    return 1;
}

kiln_status kiln_validate(const kiln_code *code, const void *blob, size_t blob_bytes,
                          const void *arena, size_t arena_bytes) {
    const blob_header *header = blob;
    if (code == NULL || blob == NULL)
        return KILN_BAD_ARGUMENT;
    if ((uintptr_t)blob % 4 != 0)
        return KILN_MISALIGNED;
    kiln_status status = check_identity(header, blob_bytes, code);
    if (status != KILN_OK)
        return status;
    if (!sections_are_good(header) || !steps_are_good(header, code->kernel_count) ||
        !tensors_are_good(header))
        return KILN_BAD_STRUCTURE;
    uint32_t alignment = header->arena_alignment;
    if (header->arena_bytes > arena_bytes)
        return KILN_ARENA_TOO_SMALL;
    if (arena == NULL && header->arena_bytes > 0)
        return KILN_BAD_ARGUMENT;
    if ((uintptr_t)arena % alignment != 0)
        return KILN_MISALIGNED;
    if (alignment > KILN_BLOB_CONSTANTS_ALIGNMENT)
        alignment = KILN_BLOB_CONSTANTS_ALIGNMENT;
    return (uintptr_t)blob % alignment != 0 ? KILN_MISALIGNED : KILN_OK;
}
