"""The kernels of x86-64 with AVX-512 and VNNI: the shared SIMD bodies with 16 lanes."""

from kiln_targets.simd import convolution, depthwise, elementwise, pooling
from kiln_targets.simd.isa import Isa

AVX512_VNNI = Isa(
    "x86_avx512vnni", lanes=16, int8_columns=4, float_columns=4, input_offset=128,
    int8_macs=100, float_macs=28,
)  # fmt: skip

convolution.register_int8(AVX512_VNNI)
convolution.register_float32(AVX512_VNNI)
depthwise.register_int8(AVX512_VNNI)
depthwise.register_float32(AVX512_VNNI)
elementwise.register(AVX512_VNNI)
pooling.register(AVX512_VNNI)
