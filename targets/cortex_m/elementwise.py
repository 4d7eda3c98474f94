"""add and sub of Cortex-M in int8."""

from kiln_targets.simd.elementwise import Int8Sum

from compiler.kernels import kernel

kernel(
    ("add", "sub"), target="cortex_m", source="add_int8.h", name="add_int8__cortex_m",
    dtypes=("int8",),
)(type("", (Int8Sum,), {}))  # fmt: skip
