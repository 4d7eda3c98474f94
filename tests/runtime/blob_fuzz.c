/* Damaged blobs must be refused, and nothing written: `blob_fuzz MODE BLOB`.
 *
 *   load   prints the status of loading each blob of the file, where 4 bytes before each hold its
 *          size
 *   flip   changes each byte in several ways and expects a refusal each time
 *   cut    loads every shorter prefix and expects a refusal each time */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_model.h"

static _Alignas(64) uint8_t arena[FAKE_ARENA_BYTES];

/* The status of loading; ends the program if a refusal wrote to the arena or the model. */
static kiln_status load(const uint8_t *blob, size_t bytes) {
    kiln_model model, before;
    memset(arena, 0x5A, sizeof arena);
    memset(&model, 0x5A, sizeof model);
    before = model;
    kiln_status status = kiln_load(&model, &kiln_model_code, blob, bytes, arena, sizeof arena);
    if (status == KILN_OK)
        return status;
    for (size_t i = 0; i < sizeof arena; i++)
        if (arena[i] != 0x5A)
            exit(3);
    if (memcmp(&model, &before, sizeof model) != 0)
        exit(4);
    return status;
}

static void expect_refusal(const uint8_t *blob, size_t bytes, size_t at, const char *what) {
    if (load(blob, bytes) != KILN_OK)
        return;
    fprintf(stderr, "%s at byte %zu was accepted\n", what, at);
    exit(1);
}

static void flip_each(uint8_t *blob, size_t bytes) {
    for (size_t at = 0; at < bytes; at++) {
        uint8_t good = blob[at];
        for (int bit = 0; bit < 8; bit++) {
            blob[at] = (uint8_t)(good ^ 1 << bit);
            expect_refusal(blob, bytes, at, "a flipped bit");
        }
        static const uint8_t patterns[] = {0x00, 0xFF, 0x55, 0xAA};
        for (size_t i = 0; i < sizeof patterns; i++) {
            blob[at] = patterns[i];
            if (patterns[i] != good)
                expect_refusal(blob, bytes, at, "a changed byte");
        }
        blob[at] = good;
    }
}

static void cut_everywhere(const uint8_t *blob, size_t bytes) {
    for (size_t length = 0; length < bytes; length++) {
        void *prefix = NULL;
        if (posix_memalign(&prefix, 64, length + (length == 0)) != 0)
            exit(2);
        memcpy(prefix, blob, length);
        expect_refusal(prefix, length, length, "a cut");
        free(prefix);
    }
}

static void load_each(const uint8_t *file, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
        uint32_t size;
        memcpy(&size, file + at, sizeof size);
        at += sizeof size;
        if (size > bytes - at)
            exit(2);
        void *blob = NULL;
        if (posix_memalign(&blob, 64, size + (size == 0)) != 0)
            exit(2);
        memcpy(blob, file + at, size);
        printf("%s\n", kiln_status_text(load(blob, size)));
        free(blob);
        at += size;
    }
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    size_t bytes;
    uint8_t *blob = read_aligned(argv[2], &bytes);
    if (strcmp(argv[1], "load") == 0)
        load_each(blob, bytes);
    if (strcmp(argv[1], "flip") == 0)
        flip_each(blob, bytes);
    if (strcmp(argv[1], "cut") == 0)
        cut_everywhere(blob, bytes);
    free(blob);
    return 0;
}
