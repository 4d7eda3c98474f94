/* The blob's bytes as structs (see BLOB.md); private to the runtime. */
#ifndef KILN_BLOB_H
#define KILN_BLOB_H

#include <stdint.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "a Kiln blob is read in place, so the processor must be little-endian"
#endif

/* The blob is bytes to the rest of the program. */
#define KILN_OVERLAY __attribute__((may_alias))

#define KILN_BLOB_MAGIC 0x4E4C494Bu /* "KILN" */
#define KILN_BLOB_VERSION 1u
#define KILN_BLOB_NUMERICS 2u
#define KILN_BLOB_MAX_ALIGNMENT 4096u
#define KILN_BLOB_CONSTANTS_ALIGNMENT 64u
#define KILN_BLOB_IN_CONSTANTS 0x80000000u
#define KILN_BLOB_NO_INITIAL 0xFFFFFFFFu

enum { KILN_ROLE_INPUT, KILN_ROLE_OUTPUT, KILN_ROLE_STATE };

typedef struct KILN_OVERLAY blob_header {
    uint32_t magic;
    uint16_t version;
    uint8_t numerics, zero;
    uint32_t blob_bytes;
    uint32_t crc;
    uint8_t code_hash[16];
    uint32_t arena_bytes;
    uint32_t arena_alignment;
    uint32_t step_count;
    uint16_t counts[3]; /* of inputs, outputs and states */
    uint16_t zero_2;
    uint32_t tensors_offset;
    uint32_t names_offset;
    uint32_t constants_offset;
} blob_header;

typedef struct KILN_OVERLAY blob_operand {
    uint32_t place;
    uint32_t bytes;
} blob_operand;

typedef struct KILN_OVERLAY blob_step {
    uint16_t kernel;
    uint16_t operand_count;
} blob_step; /* its operands follow */

typedef struct KILN_OVERLAY blob_tensor {
    uint8_t role, dtype, rank, zero;
    uint32_t name_offset;
    uint32_t offset;
    uint32_t bytes;
    uint32_t initial;
    float scale;
    int32_t zero_point;
    uint32_t shape[8];
    uint32_t zero_2;
} blob_tensor;

/* A compile error here: the compiler pads the structs. */
typedef char blob_header_is_64_bytes[sizeof(blob_header) == 64 ? 1 : -1];
typedef char blob_tensor_is_64_bytes[sizeof(blob_tensor) == 64 ? 1 : -1];
typedef char blob_operand_is_8_bytes[sizeof(blob_operand) == 8 ? 1 : -1];

#endif
