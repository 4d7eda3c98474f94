/* The device's side of PROTOCOL.md: takes frames apart, executes each request once, answers. */
#include "serve.h"

#include "blob.h"
#include "crc32.h"
#include "frame.h"
#include "memory.h"
#include "port.h"
#include "watermark.h"

typedef char payload_is_at_least_128[KILN_PAYLOAD_BYTES >= 128 ? 1 : -1];
typedef char payload_is_at_most_65535[KILN_PAYLOAD_BYTES <= 65535 ? 1 : -1];

#define PROTOCOL_VERSION 1
#define ANSWER 0x80
#define LINKED_IN 2u /* as active_slot */
#define BOARD_NAME_BYTES 64u

enum { STARTED = 1 };
enum { UNKNOWN = -32, MALFORMED = -33, NO_SLOT = -34, TOO_LARGE = -35, OUT_OF_ORDER = -36 };
enum { HELLO = 1, RESET_BOARD = 12 };

/* A request's payload, and where its result goes; `out` moves on as it is written. */
typedef struct exchange {
    const uint8_t *in;
    uint32_t in_bytes;
    uint8_t *out;
} exchange;

typedef int (*handler)(kiln_server *server, exchange *io);

static void put(exchange *io, uint64_t value, uint32_t bytes) {
    io->out = kiln_put(io->out, value, bytes);
}

static void put_bytes(exchange *io, const void *from, uint32_t bytes) {
    memcpy(io->out, from, bytes);
    io->out += bytes;
}

static uint32_t text_bytes(const char *text, uint32_t limit) {
    uint32_t bytes = 0;
    while (bytes < limit && text[bytes] != 0)
        bytes++;
    return bytes;
}

/* ---- the model ---- */

static kiln_status load(kiln_server *server, const uint8_t *blob, uint32_t bytes) {
    const kiln_firmware *firmware = server->firmware;
    kiln_model model;
    kiln_status status =
        kiln_load(&model, firmware->code, blob, bytes, firmware->arena, firmware->arena_bytes);
    if (status != KILN_OK)
        return status;
    server->model = model;
    kiln_watermark_fill(firmware->arena, firmware->arena_bytes);
    return kiln_reset(&server->model);
}

static uint8_t *free_slot(const kiln_server *server) {
    return server->firmware->slots + (server->active_slot == 0 ? server->firmware->slot_bytes : 0);
}

/* Whether [offset, offset + bytes) is inside [0, limit); cannot overflow. */
static int within(uint32_t offset, uint32_t bytes, uint32_t limit) {
    return bytes <= limit && offset <= limit - bytes;
}

/* ---- requests, in the order of PROTOCOL.md ---- */

static int answer_hello(kiln_server *server, exchange *io) {
    static const blob_header none;
    const kiln_firmware *firmware = server->firmware;
    const void *blob = server->model.blob;
    const blob_header *header = blob ? blob : &none;
    kiln_clock clock = kiln_port_clock_info();
    put(io, PROTOCOL_VERSION, 1);
    put(io, clock.unit, 1);
    put(io, KILN_PAYLOAD_BYTES, 2);
    put(io, clock.numerator, 4);
    put(io, clock.denominator, 4);
    put(io, header->blob_bytes, 4);
    put(io, header->crc, 4);
    put_bytes(io, firmware->code->hash, sizeof firmware->code->hash);
    put(io, header->arena_bytes, 4);
    put(io, firmware->arena_bytes, 4);
    put(io, firmware->slot_bytes, 4);
    put(io, header->step_count, 4);
    put(io, header->counts[KILN_ROLE_INPUT], 2);
    put(io, header->counts[KILN_ROLE_OUTPUT], 2);
    put(io, (uint64_t)server->load_status, 1);
    put_bytes(io, firmware->board, text_bytes(firmware->board, BOARD_NAME_BYTES));
    return KILN_OK;
}

static int answer_tensor(kiln_server *server, exchange *io) {
    kiln_tensor tensor;
    uint32_t index = kiln_get(io->in + 1, 2);
    uint32_t scale;
    if (io->in[0] > KILN_ROLE_OUTPUT)
        return MALFORMED;
    kiln_status status = io->in[0] == KILN_ROLE_INPUT ? kiln_input(&server->model, index, &tensor)
                                                      : kiln_output(&server->model, index, &tensor);
    if (status != KILN_OK)
        return status;
    memcpy(&scale, &tensor.scale, sizeof scale);
    put(io, tensor.dtype, 1);
    put(io, tensor.rank, 1);
    put(io, tensor.bytes, 4);
    put(io, scale, 4);
    put(io, (uint32_t)tensor.zero_point, 4);
    for (uint32_t i = 0; i < tensor.rank; i++)
        put(io, tensor.shape[i], 4);
    uint32_t room = KILN_PAYLOAD_BYTES - 14 - 4 * tensor.rank;
    put_bytes(io, tensor.name, text_bytes(tensor.name, room));
    return KILN_OK;
}

static int answer_write(kiln_server *server, exchange *io) {
    kiln_tensor tensor;
    kiln_status status = kiln_input(&server->model, kiln_get(io->in, 2), &tensor);
    if (status != KILN_OK)
        return status;
    uint32_t offset = kiln_get(io->in + 2, 4), bytes = io->in_bytes - 6;
    if (!within(offset, bytes, tensor.bytes))
        return MALFORMED;
    memcpy((uint8_t *)tensor.data + offset, io->in + 6, bytes);
    return KILN_OK;
}

static int answer_read(kiln_server *server, exchange *io) {
    kiln_tensor tensor;
    kiln_status status = kiln_output(&server->model, kiln_get(io->in, 2), &tensor);
    if (status != KILN_OK)
        return status;
    uint32_t offset = kiln_get(io->in + 2, 4), bytes = kiln_get(io->in + 6, 4);
    if (bytes > KILN_PAYLOAD_BYTES || !within(offset, bytes, tensor.bytes))
        return MALFORMED;
    put_bytes(io, (const uint8_t *)tensor.data + offset, bytes);
    return KILN_OK;
}

static int answer_run(kiln_server *server, exchange *io) {
    uint32_t times = kiln_get(io->in, 4);
    kiln_status status = KILN_OK;
    uint64_t start = kiln_port_clock();
    for (uint32_t i = 0; i < times && status == KILN_OK; i++)
        status = kiln_run(&server->model);
    put(io, kiln_port_clock() - start, 8);
    return status;
}

#ifdef KILN_NO_PROFILE
static int answer_profile(kiln_server *server, exchange *io) {
    (void)server;
    (void)io;
    return UNKNOWN;
}
#else
/* Ticks of the steps [first, first + room) go to `ticks`. */
typedef struct step_clock {
    uint64_t entered;
    uint32_t first, room;
    uint8_t *ticks;
} step_clock;

static void time_step(void *context, uint32_t step, int enter) {
    step_clock *clock = context;
    if (enter) {
        clock->entered = kiln_port_clock();
        return;
    }
    uint64_t ticks = kiln_port_clock() - clock->entered;
    uint32_t index = step - clock->first;
    if (index < clock->room)
        kiln_put(clock->ticks + 4 * index, ticks > UINT32_MAX ? UINT32_MAX : ticks, 4);
}

static int answer_profile(kiln_server *server, exchange *io) {
    step_clock clock = {0, kiln_get(io->in, 4), (KILN_PAYLOAD_BYTES - 8) / 4, io->out + 8};
    uint32_t steps = kiln_step_count(&server->model);
    if (clock.first > steps)
        return MALFORMED;
    if (clock.room > steps - clock.first)
        clock.room = steps - clock.first;
    server->model.hook = time_step;
    server->model.hook_context = &clock;
    uint64_t start = kiln_port_clock();
    kiln_status status = kiln_run(&server->model);
    put(io, kiln_port_clock() - start, 8);
    server->model.hook = NULL;
    io->out += 4 * clock.room;
    return status;
}
#endif

static int answer_memory(kiln_server *server, exchange *io) {
    const kiln_firmware *firmware = server->firmware;
    put(io, kiln_watermark_from_start(firmware->arena, firmware->arena_bytes), 4);
    put(io, kiln_port_stack_bytes(), 4);
    return KILN_OK;
}

static int answer_load_begin(kiln_server *server, exchange *io) {
    uint32_t bytes = kiln_get(io->in, 4);
    server->load_expected = server->load_received = 0;
    if (server->firmware->slot_bytes == 0)
        return NO_SLOT;
    if (bytes > server->firmware->slot_bytes)
        return TOO_LARGE;
    server->load_expected = bytes;
    return KILN_OK;
}

static int answer_load_data(kiln_server *server, exchange *io) {
    uint32_t offset = kiln_get(io->in, 4), bytes = io->in_bytes - 4;
    if (offset != server->load_received || !within(offset, bytes, server->load_expected))
        return OUT_OF_ORDER;
    memcpy(free_slot(server) + offset, io->in + 4, bytes);
    server->load_received += bytes;
    return KILN_OK;
}

static int answer_load_end(kiln_server *server, exchange *io) {
    uint32_t bytes = server->load_received;
    (void)io;
    if (bytes == 0 || bytes != server->load_expected)
        return OUT_OF_ORDER;
    server->load_expected = server->load_received = 0;
    kiln_status status = load(server, free_slot(server), bytes);
    if (status != KILN_OK)
        return status;
    server->load_status = KILN_OK;
    server->active_slot = server->active_slot == 0 ? 1 : 0;
    return KILN_OK;
}

static int answer_reset_state(kiln_server *server, exchange *io) {
    (void)io;
    return kiln_reset(&server->model);
}

static int answer_reset_board(kiln_server *server, exchange *io) {
    (void)server;
    (void)io;
    return KILN_OK; /* `execute` resets once the answer is out */
}

/* ---- frames ---- */

typedef struct request {
    handler answer;
    uint8_t least_bytes, most_bytes; /* of payload; most 0xFF: no limit */
    uint8_t may_take_long;
} request;

static const request requests[] = {
    {answer_hello, 0, 0, 0},    {answer_tensor, 3, 3, 0},      {answer_write, 6, 0xFF, 0},
    {answer_read, 10, 10, 0},   {answer_run, 4, 4, 1},         {answer_profile, 4, 4, 1},
    {answer_memory, 0, 0, 0},   {answer_load_begin, 4, 4, 0},  {answer_load_data, 4, 0xFF, 0},
    {answer_load_end, 0, 0, 1}, {answer_reset_state, 0, 0, 0}, {answer_reset_board, 0, 0, 0},
};

static void send_answer(kiln_server *server, int status, uint32_t packet_bytes) {
    uint8_t *answer = server->answer;
    answer[2] = (uint8_t)status;
    kiln_put(answer + packet_bytes, kiln_crc32(0, answer, packet_bytes), 4);
    server->answer_bytes = packet_bytes + 4;
    kiln_frame_write(answer, server->answer_bytes);
}

/* `packet` without its CRC. */
static void execute(kiln_server *server, const uint8_t *packet, uint32_t bytes) {
    exchange io = {packet + 2, bytes - 2, server->answer + 3};
    uint32_t index = packet[1] - 1u;
    int status = UNKNOWN;
    server->answer[0] = packet[0];
    server->answer[1] = packet[1] | ANSWER;
    if (index < sizeof requests / sizeof requests[0]) {
        const request *which = &requests[index];
        int fits = io.in_bytes >= which->least_bytes &&
                   (which->most_bytes == 0xFF || io.in_bytes <= which->most_bytes);
        if (fits && which->may_take_long)
            send_answer(server, STARTED, 3);
        status = fits ? which->answer(server, &io) : MALFORMED;
    }
    uint8_t *end = status == KILN_OK ? io.out : server->answer + 3;
    send_answer(server, status, (uint32_t)(end - server->answer));
    if (packet[1] == RESET_BOARD) {
        kiln_port_reset();
        kiln_server_start(server, server->firmware);
    }
}

static void take_frame(kiln_server *server) {
    uint8_t *packet = server->received;
    uint32_t bytes = kiln_frame_decode(packet, server->received_bytes);
    if (bytes < 6)
        return;
    bytes -= 4;
    uint32_t crc = kiln_crc32(0, packet, bytes);
    if (crc != kiln_get(packet + bytes, 4) || packet[1] & ANSWER)
        return;
    if (server->answer_bytes > 0 && crc == server->request_crc && packet[1] != HELLO &&
        packet[0] == server->answer[0]) {
        kiln_frame_write(server->answer, server->answer_bytes);
        return;
    }
    server->request_crc = crc;
    execute(server, packet, bytes);
}

void kiln_server_start(kiln_server *server, const kiln_firmware *firmware) {
    memset(server, 0, sizeof *server);
    server->firmware = firmware;
    server->active_slot = LINKED_IN;
    server->load_status = load(server, firmware->blob, firmware->blob_bytes);
}

void kiln_server_receive(kiln_server *server, uint8_t byte) {
    const kiln_firmware *firmware = server->firmware;
    int printable = (byte >= ' ' && byte <= '~') || byte == '\r' || byte == '\n';
    uint32_t count = server->received_bytes;
    if (byte == 0) {
        if (count <= KILN_FRAME_BYTES)
            take_frame(server);
        server->received_bytes = 0;
        return;
    }
    server->is_text = printable && (count == 0 || server->is_text);
    if (byte == '%' && server->is_text && count < KILN_FRAME_BYTES && firmware->text) {
        server->received[count] = 0;
        server->received_bytes = 0;
        firmware->text(firmware->text_context, (char *)server->received);
        return;
    }
    if (count < KILN_FRAME_BYTES)
        server->received[count] = byte;
    /* One more than the buffer holds marks a frame that is too long. */
    if (count <= KILN_FRAME_BYTES)
        server->received_bytes = count + 1;
}
