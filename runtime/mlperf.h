/* The ASCII commands of MLPerf Tiny's benchmark runner, for performance mode. */
#ifndef KILN_MLPERF_H
#define KILN_MLPERF_H

#include "serve.h"

/* The caller's; `input` holds one input between runs, since a run may overwrite it. */
typedef struct kiln_mlperf {
    kiln_server *server;
    const char *model_name; /* "kws01", "ic01", "vww01", "ad01": the runner picks the data by it */
    uint8_t *input;
    uint32_t input_bytes;
    uint32_t expected, received; /* bytes of `db` */
    uint8_t number[4];           /* a float that has come in part */
} kiln_mlperf;

/* What the runner waits for after a reset. */
void kiln_mlperf_banner(void);

/* Answers one command: a kiln_text_handler whose context is a kiln_mlperf. */
void kiln_mlperf_command(void *context, char *text);

#endif
