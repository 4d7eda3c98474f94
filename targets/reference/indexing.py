"""Reads and writes at computed indices, on the reference target."""

from __future__ import annotations

import math
from collections.abc import Mapping

from compiler.graph import DTYPE_BYTES, OpView
from compiler.kernels import Call, Field, Input, Kernel, Output, kernel
from compiler.strides import MAX_RANK, row_major

SOURCE = "indexing.h"
BY_SIZE = {
    size: tuple(dtype for dtype, width in DTYPE_BYTES.items() if width == size)
    for size in (1, 2, 4, 8)
}
ORDERED = ("float32", "int32", "int64", "int8", "uint8", "int16")
SUMMED = ("float32", "int32", "int64")


def _same_values(view: OpView, *others: int) -> bool:
    """Whether the output's bytes mean what those of input 0, and of ``others``, do."""
    output = view.output()
    return all(
        (view.input(i).dtype, view.input(i).quant) == (output.dtype, output.quant)
        for i in (0, *others)
    )


class Indexed(Kernel):
    """Input 1 has the indices, in one of two types."""

    index_dtype = ""
    reduction = "none"

    def fits(self, view: OpView) -> bool:
        wanted = getattr(view.params, "reduction", "none")
        updates = (2,) if len(view.inputs) > 2 else ()
        quantized = view.output().quant is not None
        return (
            view.input(1).dtype == self.index_dtype
            and wanted == self.reduction
            and _same_values(view, *updates)
            and not (quantized and wanted in ("add", "mul"))
            and max(len(view.input(0).shape), len(view.input(1).shape)) <= MAX_RANK
        )


class GatherNd(Indexed):
    """Whole parts are copied."""

    def call(self, view: OpView) -> Call:
        return Call("nd_shape", nd_fields(view), (Input(0), Input(1), Output(0)))


def nd_fields(view: OpView) -> dict[str, Field]:
    """``struct nd_shape``."""
    x, indices = view.input(0).shape, view.input(1).shape
    batch = getattr(view.params, "batch_dims", 0)
    depth = indices[-1]
    return {
        "batches": math.prod(x[:batch]),
        "count": math.prod(indices[batch:-1]),
        "depth": depth,
        "part": math.prod(x[batch + depth :]),
        "extent": x[batch : batch + depth] or (1,),
        "batch_elements": math.prod(x[batch:]),
    }


class Scatter(Indexed):
    """The output starts as input 0, over which it may lie."""

    def in_place(self, view: OpView) -> Mapping[int, int]:
        names = view.op.inputs
        return {0: 0} if names[0] not in names[1:] else {}


class ScatterNd(Scatter):
    """Whole parts are replaced, or joined with."""

    def call(self, view: OpView) -> Call:
        return Call("nd_shape", nd_fields(view), (Input(0), Input(1), Input(2), Output(0)))


def elements_fields(view: OpView) -> dict[str, Field]:
    """``struct elements_shape``."""
    x, axis = view.input(0).shape, view.params.axis
    stride = row_major(x)
    return {
        "rank": len(x),
        "axis": axis,
        "extent": view.input(1).shape,
        "stride": tuple(0 if i == axis else step for i, step in enumerate(stride)),
        "axis_extent": x[axis],
        "axis_stride": stride[axis],
        "x_elements": math.prod(x),
    }


class GatherElements(Indexed):
    """Element by element."""

    def call(self, view: OpView) -> Call:
        return Call("elements_shape", elements_fields(view), (Input(0), Input(1), Output(0)))


class ScatterElements(Scatter):
    """Element by element."""

    def call(self, view: OpView) -> Call:
        buffers = (Input(0), Input(1), Input(2), Output(0))
        return Call("elements_shape", elements_fields(view), buffers)


_INDEXED = {
    "gather_nd": GatherNd, "gather_elements": GatherElements, "scatter_nd": ScatterNd,
    "scatter_elements": ScatterElements,
}  # fmt: skip
for _bits in (32, 64):
    for _op, _cls in _INDEXED.items():
        for _size, _dtypes in BY_SIZE.items():
            kernel(
                _op, target="reference", name=f"{_op}_bytes{_size}_index{_bits}__reference",
                source=SOURCE, dtypes=_dtypes,
            )(type(_cls.__name__, (_cls,), {"index_dtype": f"int{_bits}"}))  # fmt: skip
        if issubclass(_cls, Scatter):
            for _reduction in ("add", "mul", "max", "min"):
                for _dtype in ORDERED:
                    kernel(
                        _op, target="reference",
                        name=f"{_op}_{_reduction}_{_dtype}_index{_bits}__reference",
                        source=SOURCE, dtypes=(_dtype,),
                    )(type(_cls.__name__, (_cls,),
                           {"index_dtype": f"int{_bits}", "reduction": _reduction}))  # fmt: skip


def axis_fields(view: OpView) -> dict[str, Field]:
    """Input 0 as (outer, extent, inner) around the parameter ``axis``."""
    x, axis = view.input(0).shape, view.params.axis
    return {
        "outer": math.prod(x[:axis]),
        "extent": x[axis],
        "inner": math.prod(x[axis + 1 :]),
    }


class TopK(Kernel):
    """The best so far are kept in order in the output itself."""

    largest = True
    index_dtype = ""

    def fits(self, view: OpView) -> bool:
        p = view.params
        return (p.largest, p.index_dtype) == (self.largest, self.index_dtype) and _same_values(view)

    def cost(self, view: OpView) -> float:
        return float(view.input(0).elements * max(view.params.k, 1))

    def call(self, view: OpView) -> Call:
        fields = {**axis_fields(view), "k": view.params.k}
        return Call("top_k_shape", fields, (Input(0), Output(0), Output(1)))


for _bits in (32, 64):
    for _largest, _name in ((True, "top_k_largest"), (False, "top_k_least")):
        for _dtype in ORDERED:
            kernel(
                "top_k", target="reference", name=f"{_name}_{_dtype}_index{_bits}__reference",
                source=SOURCE, dtypes=(_dtype,),
            )(type("TopK", (TopK,),
                   {"largest": _largest, "index_dtype": f"int{_bits}"}))  # fmt: skip


class Cumsum(Kernel):
    """Numbers that stand for themselves."""

    def fits(self, view: OpView) -> bool:
        return view.input(0).quant is None and view.output().quant is None

    def in_place(self, view: OpView) -> Mapping[int, int]:
        return {0: 0}

    def call(self, view: OpView) -> Call:
        flags = {"exclusive": int(view.params.exclusive), "reverse": int(view.params.reverse)}
        return Call("cumsum_shape", {**axis_fields(view), **flags}, (Input(0), Output(0)))


for _dtype in SUMMED:
    kernel(
        "cumsum", target="reference", name=f"cumsum_{_dtype}__reference", source=SOURCE,
        dtypes=(_dtype,),
    )(Cumsum)  # fmt: skip
