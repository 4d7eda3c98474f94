/* Undefines what types/<dtype>.h defined. */

#undef KILN_NAME
#undef KILN_SHAPE
#undef KILN_INPUT
#undef KILN_WEIGHT
#undef KILN_OUTPUT
#undef KILN_SUM
#undef KILN_CONSTANTS
#undef KILN_PRODUCT
#undef KILN_DOT
#undef KILN_DOT_INPUTS
#undef KILN_OUTSIDE
#undef KILN_FINISH
