/* gather with one type of indices: expects KILN_GATHER and KILN_INDEX, and undefines them. */

/* An index out of range reads the nearest slice that exists: memory stays safe. */
KILN_KERNEL void KILN_GATHER(const struct gather_shape *s, const void *input,
                             const KILN_INDEX *indices, void *output) {
    const char *source = (const char *)input;
    char *target = (char *)output;
    const size_t bytes = (size_t)s->slice_bytes;
    for (int32_t outer = 0; outer < s->outer; outer++) {
        for (int32_t i = 0; i < s->count; i++, target += bytes) {
            KILN_INDEX at = indices[i] < 0 ? indices[i] + s->extent : indices[i];
            at = at < 0 ? 0 : at >= s->extent ? s->extent - 1 : at;
            memcpy(target, source + (size_t)at * bytes, bytes);
        }
        source += (size_t)s->extent * bytes;
    }
}

#undef KILN_GATHER
#undef KILN_INDEX
