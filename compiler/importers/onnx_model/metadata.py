"""What an ONNX file says about its inputs: shapes, and how a picture becomes one."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from compiler.errors import ModelError, UnsupportedError
from compiler.graph import Preprocessing, Shape

#: ONNX's names of the element types that Kiln has, and numpy's.
DTYPES = {
    "FLOAT": "float32", "FLOAT16": "float16", "DOUBLE": "float64", "INT8": "int8",
    "UINT8": "uint8", "INT16": "int16", "UINT16": "uint16", "INT32": "int32", "UINT32": "uint32",
    "INT64": "int64", "UINT64": "uint64", "BOOL": "bool",
}  # fmt: skip

Dimension = onnx.TensorShapeProto.Dimension


def dtype_of(element_type: int) -> str:
    """The dtype of an ONNX element type; raises UnsupportedError for one that Kiln lacks."""
    name = onnx.TensorProto.DataType.Name(element_type)
    if name not in DTYPES:
        raise UnsupportedError(f"elements of type {name}; convert the model to FLOAT")
    return DTYPES[name]


def bound_shape(name: str, tensor: onnx.TypeProto.Tensor, given: Shape | None) -> Shape:
    """The static shape of input ``name``: the file's, or ``given`` where the file leaves it open.

    Raises ModelError if a dimension stays unbound or ``given`` contradicts the file.
    """
    dims = list(tensor.shape.dim)
    if given is not None:
        if tensor.HasField("shape") and not _agrees(dims, given):
            raise ModelError(
                f"--shape {name}={','.join(map(str, given))} contradicts the file, which has "
                f"{_written(dims)}"
            )
        return tuple(given)
    if not tensor.HasField("shape"):
        raise ModelError(f"input '{name}' has no shape; give one with --shape {name}=...")
    for position, dim in enumerate(dims):
        if dim.dim_value < 1:
            called = f"'{dim.dim_param}'" if dim.dim_param else str(position)
            raise ModelError(
                f"input '{name}' has the dynamic dimension {called}; bind it with "
                f"--shape {name}={_written(dims)}, a number for each"
            )
    return tuple(int(dim.dim_value) for dim in dims)


def _agrees(dims: Sequence[Dimension], given: Shape) -> bool:
    return len(given) == len(dims) and all(
        dim.dim_value < 1 or dim.dim_value == size for dim, size in zip(dims, given, strict=True)
    )


def _written(dims: Sequence[Dimension]) -> str:
    """The shape as the file has it, with names (or ?) where a number is wanted."""
    return ",".join(
        str(dim.dim_value) if dim.dim_value > 0 else dim.dim_param.replace(" ", "") or "?"
        for dim in dims
    )


def preprocessing(model: onnx.ModelProto, inputs: Sequence[str]) -> dict[str, Preprocessing]:
    """``mean`` and ``std`` of ``metadata_props`` (numbers with commas, units of 0..255 pixels),
    for the first input."""
    properties = {entry.key: entry.value for entry in model.metadata_props}
    if not inputs or not {"mean", "std"} <= set(properties):
        return {}
    try:
        mean, std = (tuple(map(float, properties[key].split(","))) for key in ("mean", "std"))
    except ValueError as error:
        raise ModelError(f"metadata 'mean' or 'std' is not a list of numbers: {error}") from error
    if len(mean) != len(std) or 0.0 in std:
        raise ModelError("metadata 'std' has a zero, or not as many numbers as 'mean'")
    return {inputs[0]: Preprocessing(mean, std)}


def labels(model: onnx.ModelProto) -> tuple[str, ...]:
    """``labels`` of ``metadata_props``: one a line, or with commas on a single line."""
    for entry in model.metadata_props:
        if entry.key == "labels":
            separator = "\n" if "\n" in entry.value else ","
            return tuple(filter(None, map(str.strip, entry.value.split(separator))))
    return ()
