/* One fully connected layer; the types come from types/<dtype>.h. */

KILN_KERNEL void KILN_NAME(fully_connected)(const KILN_SHAPE(fully_connected) * s,
                                            const KILN_INPUT *input, const KILN_WEIGHT *weights,
                                            const KILN_SUM *bias KILN_CONSTANTS,
                                            KILN_OUTPUT *output) {
    for (int32_t row = 0; row < s->rows; row++, input += s->depth) {
        for (int32_t o = 0; o < s->output_channels; o++) {
            const KILN_SUM sum = bias[o] + KILN_DOT(input, weights + o * s->depth, s->depth);
            *output++ = (KILN_OUTPUT)KILN_FINISH(sum, o);
        }
    }
}
