"""The kernels of x86-64 with AVX2 and FMA: the shared SIMD bodies with 8 lanes."""

from kiln_targets.simd import convolution, depthwise, elementwise, pooling
from kiln_targets.simd.isa import Isa

AVX2 = Isa("x86_avx", lanes=8, int8_columns=2, float_columns=2, int8_macs=24, float_macs=14)

convolution.register_int8(AVX2)
convolution.register_float32(AVX2)
depthwise.register_int8(AVX2)
depthwise.register_float32(AVX2)
elementwise.register(AVX2)
pooling.register(AVX2)
