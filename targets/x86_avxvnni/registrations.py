"""The int8 kernels of x86-64 with AVX-VNNI: the shared SIMD bodies with 8 lanes."""

from kiln_targets.simd import convolution, depthwise
from kiln_targets.simd.isa import Isa

AVX_VNNI = Isa(
    "x86_avxvnni", lanes=8, int8_columns=2, float_columns=2, input_offset=128, int8_macs=50
)

convolution.register_int8(AVX_VNNI)
depthwise.register_int8(AVX_VNNI)
