"""The kernels of 64-bit ARM with NEON: the shared SIMD bodies with 4 lanes."""

from kiln_targets.simd import convolution, depthwise, elementwise, pooling
from kiln_targets.simd.isa import Isa

NEON = Isa(
    "arm_neon", lanes=4, int8_columns=4, float_columns=4, int8_macs=7, float_macs=3.5, pairs=True
)

convolution.register_int8(NEON)
convolution.register_float32(NEON)
depthwise.register_int8(NEON, depthwise.Int8DepthwiseTaps)
depthwise.register_float32(NEON)
elementwise.register(NEON)
pooling.register(NEON)
