/* Names of the runtime's statuses; linked only where kiln_status_text is used. */
#include "kiln.h"

const char *kiln_status_text(kiln_status status) {
    static const char *const texts[] = {
        "ok",
        "bad argument",
        "not a Kiln blob",
        "a blob of another format version",
        "the blob is cut",
        "the blob is damaged",
        "the blob's structure is broken",
        "the blob was made for other kernels",
        "the arena is too small",
        "the blob or the arena is misaligned",
        "no model is loaded",
    };
    int index = -(int)status;
    int count = (int)(sizeof texts / sizeof texts[0]);
    return index >= 0 && index < count ? texts[index] : "unknown status";
}
