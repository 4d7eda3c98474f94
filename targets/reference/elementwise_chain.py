"""Several float32 elementwise operators at once, on the reference target."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from compiler.graph import OpView, Tensor
from compiler.kernels import Call, Field, Input, Kernel, Output, kernel, kernels_of
from compiler.operators.fused import MAX_INPUTS, MAX_NUMBERS, MAX_STAGES, stage_views
from compiler.strides import MAX_RANK, broadcast_strides, collapse

_SUFFIX = "_float32__reference"
_LISTS = ("unary.h", "binary.h")  # whose float32 operators the kernel has


def stage_kernel(view: OpView) -> Kernel | None:
    """The kernel that would do a stage alone; its C expression is in one of the lists."""
    fitting = (k for k in kernels_of(view.op.kind, "reference") if k.source in _LISTS)
    return next((k for k in fitting if k.dtypes == ("float32",) and k.fits(view)), None)


def number_of(tensor: Tensor) -> float | None:
    """The value of a constant that stands in the code."""
    if not tensor.is_constant or tensor.data is None or tensor.elements != 1:
        return None
    value = float(tensor.data.reshape(()))
    return None if math.isnan(value) else value


@kernel(
    "elementwise_chain", target="reference", name="elementwise_chain_float32__reference",
    source="elementwise_chain.h", dtypes=("float32",),
)  # fmt: skip
class ElementwiseChain(Kernel):
    """Stages as a list of constants, which the C compiler turns into straight-line code."""

    shareable = False

    def fits(self, view: OpView) -> bool:
        arrays, numbers = _operands(view)
        return (
            len(view.output().shape) <= MAX_RANK
            and 0 < len(arrays) <= MAX_INPUTS
            and len(numbers) <= MAX_NUMBERS
            and len(view.params.stages) <= MAX_STAGES
            and _tails_are_apart(view)
            and all(stage_kernel(part) is not None for part in stage_views(view))
        )

    def cost(self, view: OpView) -> float:
        return float(view.output().elements * len(view.params.stages))

    def in_place(self, view: OpView) -> Mapping[int, int | tuple[int, ...]]:
        """Every element is read, of all inputs, before it is written."""
        output = view.output()
        return {0: tuple(i for i, t in enumerate(view.inputs) if t and t.shape == output.shape)}

    def call(self, view: OpView) -> Call:
        arrays, numbers = _operands(view)
        output = view.output().shape
        tails = view.params.tails or (0,) * len(view.op.inputs)
        extent, *steps = collapse(
            output, *(broadcast_strides(view.input(i).shape, output) for i in arrays)
        )
        lengths = [extent[-1] - tails[i] for i in arrays]
        ends = sorted({*lengths, extent[-1]})
        fields: dict[str, Field] = {
            "rank": len(extent),
            "extent": extent,
            "inputs": len(arrays),
            "numbers": len(numbers),
            "stages": len(view.params.stages),
            "parts": len(ends),
            "end": tuple(ends),
            "length": tuple(lengths),
            "stride": tuple(n for step in steps for n in (*step, *(0,) * (MAX_RANK - len(step)))),
            "number": tuple(numbers.values()) or (0.0,),
            **_stage_fields(view, [*arrays, *numbers]),
        }
        return Call("elementwise_chain_shape", fields, (*map(Input, arrays), Output(0)))


def _operands(view: OpView) -> tuple[list[int], dict[int, float]]:
    """Indices of the inputs that are read from memory; values of the others by index."""
    found = {i: number_of(view.input(i)) for i in range(len(view.op.inputs))}
    numbers = {i: value for i, value in found.items() if value is not None}
    return [i for i in found if i not in numbers], numbers


def _tails_are_apart(view: OpView) -> bool:
    """Whether inputs with tails are repeated along no axis, so that their rows stay apart."""
    output = view.output().shape
    return all(
        view.input(i).shape[:-1] == output[:-1] and view.input(i).shape[-1] > 1
        for i, tail in enumerate(view.params.tails)
        if tail
    )


def _stage_fields(view: OpView, order: Sequence[int]) -> dict[str, Field]:
    """Lists with one entry per stage; the C values begin with the inputs in ``order``."""
    names: list[str] = []
    operands: list[tuple[int, int]] = []
    limits: list[tuple[float, float]] = []
    for stage, part in zip(view.params.stages, stage_views(view), strict=True):
        alone = stage_kernel(part)
        assert alone is not None
        names.append("KILN_STAGE_" + alone.name.removesuffix(_SUFFIX))
        positions = [order.index(n) if n < len(order) else n for n in stage.operands]
        operands.append((positions[0], positions[-1]))
        fields = alone.call(part).fields
        low, high = ("a", "b") if "a" in fields else ("clamp_low", "clamp_high")
        limits.append((float(fields[low]), float(fields[high])))  # type: ignore[arg-type]
    return {
        "operation": tuple(names),
        "left": tuple(left for left, _ in operands),
        "right": tuple(right for _, right in operands),
        "low": tuple(low for low, _ in limits),
        "high": tuple(high for _, high in limits),
    }
