/* concat of quantized parts with scales of their own: expects KILN_CONCAT (its name), KILN_TYPE,
 * KILN_LEAST and KILN_MOST, and undefines them. b: table, the parts, the whole. */

KILN_INLINE void KILN_CONCAT(const struct concat_requantize_shape *s, void *const *b) {
    const int32_t *table = (const int32_t *)b[0];
    KILN_TYPE *output = (KILN_TYPE *)b[1 + s->count];
    for (int32_t row = 0; row < s->rows; row++) {
        for (int32_t part = 0; part < s->count; part++) {
            const int32_t *entry = table + 4 * part;
            const int32_t count = entry[0];
            const KILN_TYPE *source = (const KILN_TYPE *)b[1 + part] + row * count;
            for (int32_t i = 0; i < count; i++) {
                const int32_t value =
                    kiln_multiply_quantized(source[i] - entry[1], entry[2], entry[3]);
                *output++ =
                    (KILN_TYPE)kiln_clamp(value + s->output_zero_point, KILN_LEAST, KILN_MOST);
            }
        }
    }
}

#undef KILN_CONCAT
#undef KILN_TYPE
#undef KILN_LEAST
#undef KILN_MOST
