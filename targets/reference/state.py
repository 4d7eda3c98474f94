"""Copies from and to state tensors, on the reference target."""

from __future__ import annotations

from compiler.graph import DTYPE_BYTES, OpView
from compiler.kernels import Call, Input, Kernel, Output, kernel


@kernel(
    ("read_state", "assign_state"), target="reference", name="copy_bytes__reference",
    source="state.h", dtypes=tuple(DTYPE_BYTES),
)  # fmt: skip
class CopyBytes(Kernel):
    """Bytes as they are."""

    def call(self, view: OpView) -> Call:
        return Call("copy_bytes_shape", {"bytes": view.output().bytes}, (Input(0), Output(0)))
