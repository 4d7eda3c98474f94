/* The firmware's main: loads the model that is linked in and answers the serial line for ever. */
#include "kiln_model.h"
#include "mlperf.h"
#include "port.h"
#include "serve.h"

/* The board's settings; all of them may be defined by the build. */
#ifndef KILN_BOARD
#define KILN_BOARD "unknown"
#endif
#ifndef KILN_BLOB_SLOT_BYTES
#define KILN_BLOB_SLOT_BYTES 0 /* of each of the two that LOAD uses in turn */
#endif

#ifndef KILN_MODEL_NAME
#define KILN_MODEL_NAME "unknown" /* for MLPerf's runner */
#endif

#define SLOT_BYTES ((KILN_BLOB_SLOT_BYTES + 63u) / 64u * 64u)
#define ALIGNED(bytes) __attribute__((aligned(bytes)))

static uint8_t arena[KILN_ARENA_BYTES > 0 ? KILN_ARENA_BYTES : 1] ALIGNED(KILN_ARENA_ALIGNMENT)
    __attribute__((section(".bss.kiln_arena")));
static uint8_t slots[SLOT_BYTES > 0 ? 2 * SLOT_BYTES : 1] ALIGNED(KILN_ARENA_ALIGNMENT);
static kiln_server server;

static int serve(void) {
    kiln_firmware firmware = {.board = KILN_BOARD,
                              .code = &kiln_model_code,
                              .blob = kiln_model_blob,
                              .blob_bytes = kiln_model_blob_bytes,
                              .arena = arena,
                              .arena_bytes = KILN_ARENA_BYTES,
                              .slots = slots,
                              .slot_bytes = SLOT_BYTES};
    kiln_port_init();
#if defined(KILN_MLPERF) && defined(KILN_INPUT_0_BYTES)
    static uint8_t input[KILN_INPUT_0_BYTES > 0 ? KILN_INPUT_0_BYTES : 1];
    static kiln_mlperf mlperf = {&server, KILN_MODEL_NAME, input, sizeof input, 0, 0, {0}};
    firmware.text = kiln_mlperf_command;
    firmware.text_context = &mlperf;
    kiln_mlperf_banner();
#endif
    kiln_server_start(&server, &firmware);
    for (;;) {
        int byte = kiln_port_read();
        if (byte >= 0)
            kiln_server_receive(&server, (uint8_t)byte);
        else if (byte == -1)
            kiln_port_idle();
        else
            return 0;
    }
}

#if !defined(KILN_BARE_METAL) && (defined(__unix__) || defined(__APPLE__) || defined(_WIN32))
int main(int argc, char **argv) {
    kiln_port_arguments(argc, argv);
    return serve();
}
#else
int main(void) {
    return serve();
}
#endif
