/* Types of an operator with weights, in int8. Ended by types/end.h. */

#define KILN_NAME(operation) operation##_int8__reference
#define KILN_SHAPE(operation) struct operation##_integer_shape
#define KILN_INPUT int8_t
#define KILN_WEIGHT int8_t
#define KILN_OUTPUT int8_t
#define KILN_SUM int32_t
#define KILN_CONSTANTS , const void *constants
#define KILN_PRODUCT(x, w) (((x)-s->input_zero_point) * ((w)-s->weight_zero_point))
#define KILN_DOT(x, w, count) kiln_dot_int8(x, s->input_zero_point, w, s->weight_zero_point, count)
#define KILN_DOT_INPUTS(a, b, count)                                                               \
    kiln_dot_int8(a, s->input_zero_point, b, s->weight_zero_point, count)
#define KILN_OUTSIDE(w, count)                                                                     \
    kiln_dot_int8_constant(s->outside_value, w, s->weight_zero_point, count)
#define KILN_FINISH(sum, o)                                                                        \
    kiln_requantize(sum, constants, o, s->output_channels, s->rounding, s->clamp_low,              \
                    s->clamp_high, s->output_zero_point)
