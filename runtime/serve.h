/* Answers the protocol of PROTOCOL.md for one model, byte by byte, over port.h. */
#ifndef KILN_SERVE_H
#define KILN_SERVE_H

#include "kiln.h"

/* Bytes of payload that a frame may carry; two buffers of that size are kept. */
#ifndef KILN_PAYLOAD_BYTES
#if UINTPTR_MAX > 0xFFFFFFFFu
#define KILN_PAYLOAD_BYTES 8192
#else
#define KILN_PAYLOAD_BYTES 512
#endif
#endif

/* Sequence number, code, status, payload and CRC-32; what COBS adds; and a byte for text's end. */
#define KILN_PACKET_BYTES (KILN_PAYLOAD_BYTES + 7)
#define KILN_FRAME_BYTES (KILN_PACKET_BYTES + KILN_PACKET_BYTES / 254 + 2)

/* A command in ASCII, without its '%'; ended by a 0 byte. */
typedef void (*kiln_text_handler)(void *context, char *text);

/* What the firmware is made of: constant. */
typedef struct kiln_firmware {
    const char *board;
    const kiln_code *code;
    const uint8_t *blob;
    uint32_t blob_bytes;
    uint8_t *arena;
    uint32_t arena_bytes;
    uint8_t *slots;      /* two of slot_bytes each, at a multiple of 64; unused where that is 0 */
    uint32_t slot_bytes; /* a multiple of 64 */
    kiln_text_handler text;
    void *text_context;
} kiln_firmware;

/* The caller's; its members are the server's. */
typedef struct kiln_server {
    const kiln_firmware *firmware;
    kiln_model model;
    kiln_status load_status;
    uint32_t active_slot; /* 0 or 1; 2: the blob linked in */
    uint32_t load_expected, load_received;
    uint32_t request_crc;
    uint32_t answer_bytes; /* of the kept packet; 0: none */
    uint32_t received_bytes;
    uint8_t is_text;
    uint8_t received[KILN_FRAME_BYTES];
    uint8_t answer[KILN_PACKET_BYTES];
} kiln_server;

/* Loads the model that is linked in. The server answers whether or not that succeeds. */
void kiln_server_start(kiln_server *server, const kiln_firmware *firmware);

/* Takes the next byte that came; answers through kiln_port_write. */
void kiln_server_receive(kiln_server *server, uint8_t byte);

#endif
