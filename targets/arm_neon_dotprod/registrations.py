"""The int8 convolutions of 64-bit ARM with dot products: the shared SIMD bodies with 4 lanes."""

from kiln_targets.simd import convolution
from kiln_targets.simd.isa import Isa

NEON_DOTPROD = Isa("arm_neon_dotprod", lanes=4, int8_columns=4, float_columns=4, int8_macs=28)

convolution.register_int8(NEON_DOTPROD)
