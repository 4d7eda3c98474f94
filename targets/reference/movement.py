"""Operators of the reference target that only move elements; by element size, not by type."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from compiler.graph import DTYPE_BYTES, OpView, Shape, Tensor
from compiler.kernels import Call, Constant, Input, Kernel, Output, kernel
from compiler.numerics import quantize_multiplier
from compiler.operators.movement import BlockParams, pad_value, rescaled
from compiler.strides import MAX_RANK, broadcast_strides, collapse, row_major

SOURCE = "movement.h"
ALL_DTYPES = tuple(DTYPE_BYTES)
BY_SIZE = {
    size: tuple(dtype for dtype, width in DTYPE_BYTES.items() if width == size)
    for size in (1, 2, 4, 8)
}

#: Extents of the output in its order, input strides, and the element that is read first.
Walk = tuple[Shape, Shape, int]


def _same_quantization(view: OpView) -> bool:
    """Whether bytes may be moved as they are."""
    return all(
        t is None or t.quant is None or view.output().quant is None
        or (t.scale, t.zero_point) == (view.output().scale, view.output().zero_point)
        for t in view.inputs
    )  # fmt: skip


def _flat(pairs: Iterable[tuple[int, ...]]) -> Shape:
    return tuple(item for pair in pairs for item in pair)


def _walk(view: OpView) -> Walk:
    params, shape = view.params, view.input(0).shape
    stride = row_major(shape)
    match view.op.kind:
        case "transpose":
            return view.output().shape, tuple(stride[axis] for axis in params.permutation), 0
        case "slice":
            steps = tuple(s * step for s, step in zip(stride, params.stride, strict=True))
            first = sum(s * begin for s, begin in zip(stride, params.begin, strict=True))
            return view.output().shape, steps, first
        case "tile":
            extents = zip(params.repeats, shape, strict=True)
            return _flat(extents), _flat((0, step) for step in stride), 0
        case "broadcast_to":
            return view.output().shape, broadcast_strides(shape, view.output().shape), 0
        case "depth_to_space":
            return _depth_to_space(shape, params)
        case "space_to_depth":
            return _space_to_depth(shape, params)
    return (view.output().elements,), (1,), 0


def _depth_to_space(shape: Shape, params: BlockParams) -> Walk:
    batch, height, width, channels = shape
    block = params.block
    depth = channels // block**2
    over_y, over_x, over_depth = (
        (block * depth, depth, 1) if params.mode == "dcr" else (block, 1, block**2)
    )
    return (
        (batch, height, block, width, block, depth),
        (height * width * channels, width * channels, over_y, channels, over_x, over_depth),
        0,
    )


def _space_to_depth(shape: Shape, params: BlockParams) -> Walk:
    batch, height, width, channels = shape
    block = params.block
    row = width * channels
    over_y, over_x, over_depth = (block, row), (block, channels), (channels, 1)
    inner = (over_y, over_x, over_depth) if params.mode == "dcr" else (over_depth, over_y, over_x)
    extents, strides = zip(
        (batch, height * row),
        (height // block, block * row),
        (width // block, block * channels),
        *inner,
        strict=True,
    )
    return extents, strides, 0


class StridedCopy(Kernel):
    """Fills the output in order, from an input with any strides."""

    def fits(self, view: OpView) -> bool:
        extent, stride, _ = _walk(view)
        return _same_quantization(view) and len(collapse(extent, stride)[0]) <= MAX_RANK

    def call(self, view: OpView) -> Call:
        extent, stride, offset = _walk(view)
        extent, stride = collapse(extent, stride)
        return Call(
            "strided_copy_shape",
            {"rank": len(extent), "extent": extent, "stride": stride, "offset": offset},
            (Input(0), Output(0)),
        )


class Pad(Kernel):
    """Every padding mode; the constant is quantized like the input."""

    def fits(self, view: OpView) -> bool:
        return _same_quantization(view) and len(view.output().shape) <= MAX_RANK

    def call(self, view: OpView) -> Call:
        tensor, params = view.input(0), view.params
        shape = tensor.shape or (1,)
        modes = ("constant", "reflect", "symmetric", "edge")
        value = np.array([pad_value(tensor, params.value)]).astype(tensor.dtype)
        return Call(
            "pad_shape",
            {
                "rank": len(shape),
                "mode": modes.index(params.mode),
                "extent": view.output().shape or (1,),
                "input_extent": shape,
                "stride": row_major(shape),
                "before": params.before or (0,),
            },
            (Input(0), Constant(value, "table"), Output(0)),
        )


for _size, _dtypes in BY_SIZE.items():
    kernel(
        ("reshape", "transpose", "slice", "tile", "broadcast_to", "depth_to_space",
         "space_to_depth"),
        target="reference", name=f"strided_copy_bytes{_size}__reference", source=SOURCE,
        dtypes=_dtypes,
    )(StridedCopy)  # fmt: skip
    kernel(
        "pad", target="reference", name=f"pad_bytes{_size}__reference", source=SOURCE,
        dtypes=_dtypes,
    )(Pad)  # fmt: skip


def _row_bytes(shape: Shape, axis: int, dtype: str) -> int:
    return math.prod(shape[axis:]) * DTYPE_BYTES[dtype]


@kernel(
    "concat", target="reference", name="concat_bytes__reference", source=SOURCE, dtypes=ALL_DTYPES
)
class Concat(Kernel):
    """Inputs side by side; those that storage already put in their place stay."""

    def fits(self, view: OpView) -> bool:
        return _same_quantization(view)

    def call(self, view: OpView) -> Call:
        output, axis = view.output(), view.params.axis
        parts = [_row_bytes(view.input(i).shape, axis, output.dtype) for i in _range(view.inputs)]
        return Call(
            "parts_shape",
            {"rows": math.prod(output.shape[:axis]), "count": len(parts)},
            (
                Constant(np.array(parts, np.int32), "table"),
                *(Input(i) for i in _range(view.inputs)),
                Output(0),
            ),
        )


class ConcatRequantize(Kernel):
    """Inputs side by side, each brought to the scale of the output."""

    def fits(self, view: OpView) -> bool:
        dtypes = {t.dtype for t in (*view.inputs, view.output()) if t is not None}
        return len(dtypes) == 1 and all(t is not None and t.quant is not None for t in view.inputs)

    def cost(self, view: OpView) -> float:
        return 8.0 * view.output().elements

    def constants(self, view: OpView) -> tuple[Constant, ...]:
        """int32 (parts, 4): elements per row, zero point, multiplier, shift."""
        table = []
        for index in _range(view.inputs):
            part = view.input(index)
            multiplier = quantize_multiplier(part.scale / view.output().scale)
            table.append((_row_elements(view, part), part.zero_point, *multiplier))
        return (Constant(np.array(table, np.int32), "table"),)

    def call(self, view: OpView) -> Call:
        output = view.output()
        return Call(
            "concat_requantize_shape",
            {
                "rows": math.prod(output.shape[: view.params.axis]),
                "count": len(view.inputs),
                "output_zero_point": output.zero_point,
            },
            (*self.constants(view), *(Input(i) for i in _range(view.inputs)), Output(0)),
        )


def _row_elements(view: OpView, part: Tensor) -> int:
    return math.prod(part.shape[view.params.axis :])


class ConcatLookup(ConcatRequantize):
    """8 bits: a table of 256 bytes per input."""

    def constants(self, view: OpView) -> tuple[Constant, ...]:
        """int32 (parts,): elements per row; bytes (parts, 256)."""
        parts = [view.input(index) for index in _range(view.inputs)]
        counts = np.array([_row_elements(view, part) for part in parts], np.int32)
        codes = np.arange(256, dtype=np.uint8).view(view.output().dtype)
        tables = np.stack([rescaled(codes, part, view.output()) for part in parts])
        return Constant(counts, "table"), Constant(tables, "table")


for _dtype in ("int8", "uint8", "int16"):
    kernel(
        "concat", target="reference", name=f"concat_{_dtype}__reference", source=SOURCE,
        dtypes=(_dtype,),
    )(ConcatRequantize if _dtype == "int16" else ConcatLookup)  # fmt: skip


@kernel(
    "split", target="reference", name="split_bytes__reference", source=SOURCE, dtypes=ALL_DTYPES
)
class Split(Kernel):
    """One input cut into outputs; those that lie in place already stay."""

    def call(self, view: OpView) -> Call:
        tensor, axis = view.input(0), view.params.axis
        parts = [_row_bytes(t.shape, axis, t.dtype) for t in view.outputs]
        return Call(
            "parts_shape",
            {"rows": math.prod(tensor.shape[:axis]), "count": len(parts)},
            (
                Constant(np.array(parts, np.int32), "table"),
                Input(0),
                *(Output(i) for i in _range(view.outputs)),
            ),
        )


def _range(items: tuple[object, ...]) -> range:
    return range(len(items))


class Gather(Kernel):
    """Slices along one axis, by indices of the arena or of the blob."""

    index_dtype = "int32"

    def fits(self, view: OpView) -> bool:
        return view.input(1).dtype == self.index_dtype and _same_quantization(view)

    def call(self, view: OpView) -> Call:
        tensor, axis = view.input(0), view.params.axis
        return Call(
            "gather_shape",
            {
                "outer": math.prod(tensor.shape[:axis]),
                "extent": tensor.shape[axis],
                "count": view.input(1).elements,
                "slice_bytes": _row_bytes(tensor.shape, axis + 1, tensor.dtype),
            },
            (Input(0), Input(1), Output(0)),
        )


class GatherIndex64(Gather):
    """The same with 64-bit indices."""

    index_dtype = "int64"


for _cls in (Gather, GatherIndex64):
    kernel(
        "gather", target="reference", name=f"gather_index{_cls.index_dtype[3:]}__reference",
        source=SOURCE, dtypes=ALL_DTYPES,
    )(_cls)  # fmt: skip
