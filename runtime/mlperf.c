/* Answers MLPerf Tiny's runner: name, profile, timestamp, db, infer and results.
 *
 * The runner sends images as unsigned bytes, which an int8 model with zero point -128 takes less
 * 128, and features as the model's own integers or as floats, which are quantized here. */
#include "mlperf.h"

#include "frame.h"
#include "kiln_math.h"
#include "memory.h"
#include "port.h"

/* Counts per second, where the clock does not count time: by default a count is a microsecond. */
#ifndef KILN_CPU_HZ
#define KILN_CPU_HZ 1000000u
#endif

static void write_text(const char *text) {
    uint32_t bytes = 0;
    while (text[bytes] != 0)
        bytes++;
    kiln_port_write((const uint8_t *)text, bytes);
}

static void write_decimal(uint64_t value, int least_digits) {
    uint8_t digits[20];
    int at = 20;
    for (; value > 0 || least_digits > 0; value /= 10, least_digits--)
        digits[--at] = (uint8_t)('0' + value % 10);
    kiln_port_write(digits + at, (size_t)(20 - at));
}

/* Three decimals; magnitudes from 10^9 on are written as 10^9. */
static void write_real(float value) {
    float magnitude = kiln_fabsf(value);
    uint64_t thousandths = (uint64_t)(magnitude < 1e9f ? magnitude * 1000.0f + 0.5f : 1e12f);
    if (value < 0.0f && thousandths > 0)
        write_text("-");
    write_decimal(thousandths / 1000, 1);
    write_text(".");
    write_decimal(thousandths % 1000, 3);
}

static void write_counted(const char *text, uint32_t count) {
    write_text(text);
    write_decimal(count, 1);
    write_text("\r\n");
}

static void write_lap(void) {
    kiln_clock clock = kiln_port_clock_info();
    uint64_t count = kiln_port_clock() * clock.numerator / clock.denominator;
    uint64_t microseconds =
        clock.unit == KILN_NANOSECONDS
            ? count / 1000
            : count / KILN_CPU_HZ * 1000000u + count % KILN_CPU_HZ * 1000000u / KILN_CPU_HZ;
    write_text("m-lap-us-");
    write_decimal(microseconds, 1);
    write_text("\r\n");
}

/* If `text` begins with the word, returns what follows it and the spaces. */
static const char *after_word(const char *text, const char *word) {
    while (*word != 0)
        if (*text++ != *word++)
            return NULL;
    if (*text != ' ' && *text != 0)
        return NULL;
    while (*text == ' ')
        text++;
    return text;
}

static const char *take_number(const char *text, uint32_t *number) {
    *number = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        *number = *number * 10 + (uint32_t)(*text - '0');
    while (*text == ' ')
        text++;
    return text;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* ---- input ---- */

static int8_t quantized(const uint8_t *number, const kiln_tensor *tensor) {
    float real = kiln_float_of_bits(kiln_get(number, 4));
    float q = kiln_rintf(real / tensor->scale) + (float)tensor->zero_point;
    return (int8_t)(q < -128.0f ? -128.0f : q > 127.0f ? 127.0f : q);
}

static void take_byte(kiln_mlperf *mlperf, const kiln_tensor *tensor, uint8_t byte) {
    uint32_t at = mlperf->received++;
    if (mlperf->expected != tensor->bytes) { /* floats for an int8 model */
        mlperf->number[at % 4] = byte;
        if (at % 4 == 3)
            mlperf->input[at / 4] = (uint8_t)quantized(mlperf->number, tensor);
    } else if (tensor->dtype == KILN_INT8 && tensor->zero_point == -128) {
        mlperf->input[at] = byte ^ 0x80u;
    } else {
        mlperf->input[at] = byte;
    }
}

static void begin_input(kiln_mlperf *mlperf, const kiln_tensor *tensor, const char *text) {
    uint32_t bytes;
    take_number(text, &bytes);
    int as_is = bytes == tensor->bytes;
    int as_floats =
        tensor->dtype == KILN_INT8 && tensor->scale > 0.0f && bytes / 4 == tensor->bytes;
    if (bytes % tensor->bytes != 0 || !(as_is || as_floats) ||
        tensor->bytes > mlperf->input_bytes) {
        write_text("e-[the input of this model has another size]\r\n");
        return;
    }
    mlperf->expected = bytes;
    mlperf->received = 0;
    write_text("m-[Expecting ");
    write_decimal(bytes, 1);
    write_text(" bytes]\r\n");
}

static void answer_db(kiln_mlperf *mlperf, const char *text) {
    kiln_tensor tensor;
    if (kiln_input(&mlperf->server->model, 0, &tensor) != KILN_OK || tensor.bytes == 0) {
        write_text("e-[no model is loaded]\r\n");
        return;
    }
    const char *count = after_word(text, "load");
    if (count) {
        begin_input(mlperf, &tensor, count);
        return;
    }
    if (mlperf->received == mlperf->expected) {
        write_text("e-[db load first]\r\n");
        return;
    }
    for (; mlperf->received < mlperf->expected && text[0] != 0; text += 2) {
        int high = hex_digit(text[0]), low = hex_digit(text[1]);
        if (high < 0 || low < 0) {
            write_text("e-[not hexadecimal]\r\n");
            return;
        }
        take_byte(mlperf, &tensor, (uint8_t)(high << 4 | low));
    }
    if (mlperf->received == mlperf->expected)
        write_text("m-load-done\r\n");
}

/* ---- runs ---- */

/* Bytes of an element that `real_value` can read; else 0. */
static uint32_t element_bytes(kiln_dtype dtype) {
    if (dtype == KILN_INT8 || dtype == KILN_UINT8)
        return 1;
    return dtype == KILN_INT16 ? 2 : dtype == KILN_FLOAT32 || dtype == KILN_INT32 ? 4 : 0;
}

static float real_value(const kiln_tensor *tensor, uint32_t index) {
    float scale = tensor->scale > 0.0f ? tensor->scale : 1.0f;
    int32_t q;
    if (tensor->dtype == KILN_FLOAT32)
        return ((const float *)tensor->data)[index];
    if (tensor->dtype == KILN_INT8)
        q = ((const int8_t *)tensor->data)[index];
    else if (tensor->dtype == KILN_UINT8)
        q = ((const uint8_t *)tensor->data)[index];
    else if (tensor->dtype == KILN_INT16)
        q = ((const int16_t *)tensor->data)[index];
    else
        q = ((const int32_t *)tensor->data)[index];
    return scale * ((float)q - (float)tensor->zero_point);
}

static void answer_results(kiln_mlperf *mlperf) {
    kiln_tensor tensor;
    kiln_status status = kiln_output(&mlperf->server->model, 0, &tensor);
    uint32_t element = status == KILN_OK ? element_bytes(tensor.dtype) : 0;
    if (element == 0) {
        write_text("e-[there is no output that can be printed]\r\n");
        return;
    }
    write_text("m-results-[");
    for (uint32_t i = 0; i < tensor.bytes / element; i++) {
        if (i > 0)
            write_text(",");
        write_real(real_value(&tensor, i));
    }
    write_text("]\r\n");
}

static int run_times(kiln_mlperf *mlperf, uint32_t times) {
    kiln_tensor input;
    kiln_model *model = &mlperf->server->model;
    if (kiln_input(model, 0, &input) != KILN_OK || input.bytes > mlperf->input_bytes)
        return 0;
    for (; times > 0; times--) {
        memcpy(input.data, mlperf->input, input.bytes);
        if (kiln_run(model) != KILN_OK)
            return 0;
    }
    return 1;
}

static void answer_infer(kiln_mlperf *mlperf, const char *text) {
    uint32_t runs, warm_up;
    take_number(take_number(text, &runs), &warm_up);
    if (mlperf->expected == 0 || mlperf->received != mlperf->expected || runs == 0) {
        write_text("e-[db load first, then infer RUNS WARMUP]\r\n");
        return;
    }
    write_counted("m-warmup-start-", warm_up);
    int good = run_times(mlperf, warm_up);
    write_text("m-warmup-done\r\n");
    write_counted("m-infer-start-", runs);
    kiln_port_flush();
    write_lap();
    good = good && run_times(mlperf, runs);
    write_lap();
    write_text("m-infer-done\r\n");
    if (good)
        answer_results(mlperf);
    else
        write_text("e-[the model does not run]\r\n");
}

/* ---- commands ---- */

void kiln_mlperf_banner(void) {
    write_text("m-timestamp-mode-performance\r\n");
    write_lap();
    write_text("m-init-done\r\nm-ready\r\n");
    kiln_port_flush();
}

void kiln_mlperf_command(void *context, char *text) {
    kiln_mlperf *mlperf = context;
    const char *rest;
    while (*text == '\r' || *text == '\n' || *text == ' ')
        text++;
    if (after_word(text, "name")) {
        write_text("m-name-dut-[Kiln]\r\n");
    } else if (after_word(text, "profile")) {
        write_text("m-profile-[ULPMark for tinyML Firmware V0.0.1]\r\nm-model-[");
        write_text(mlperf->model_name);
        write_text("]\r\n");
    } else if (after_word(text, "timestamp")) {
        write_lap();
    } else if ((rest = after_word(text, "db")) != NULL) {
        answer_db(mlperf, rest);
    } else if ((rest = after_word(text, "infer")) != NULL) {
        answer_infer(mlperf, rest);
    } else if (after_word(text, "results")) {
        answer_results(mlperf);
    } else {
        write_text("e-[unknown command]\r\n");
    }
    write_text("m-ready\r\n");
    kiln_port_flush();
}
