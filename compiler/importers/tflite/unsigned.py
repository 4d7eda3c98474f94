"""Makes uint8 models int8: the same integers less 128, so that kernels need one type.

``scale * (q - zero_point)`` is the same when both are 128 less. Inputs and outputs of the model
stay uint8, and so do those of a few operators; the reader puts a requantize between.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from compiler.graph import Quantization
from compiler.importers.tflite.model_file import FileOperator, FileSubgraph, FileTensor

OFFSET = 128

#: Operators that read the numbers themselves, or round uint8 in a way of its own.
_READ_UNSIGNED = (
    "CAST", "BITCAST", "ONE_HOT", "AVERAGE_POOL_2D", "RESIZE_BILINEAR", "L2_NORMALIZATION",
)  # fmt: skip

#: (operator, index of x, index of the weights)
_PRODUCTS = (
    ("CONV_2D", 0, 1),
    ("DEPTHWISE_CONV_2D", 0, 1),
    ("TRANSPOSE_CONV", 2, 1),
)


def make_signed(subgraph: FileSubgraph) -> FileSubgraph:
    """The subgraph with every quantized uint8 tensor as int8."""
    subgraph = _with_float_products(subgraph)
    return replace(subgraph, tensors=tuple(_signed(tensor) for tensor in subgraph.tensors))


def reads_unsigned(operator: FileOperator, subgraph: FileSubgraph) -> bool:
    """Whether the operator's uint8 tensors stay what they are."""
    if operator.kind == "CONCATENATION":
        quants = [subgraph.tensors[i].quant for i in (*operator.inputs, *operator.outputs)]
        return any(quant != quants[0] for quant in quants)
    return operator.kind in _READ_UNSIGNED


def _is_unsigned(tensor: FileTensor) -> bool:
    return tensor.dtype == "uint8" and tensor.quant is not None


def _signed(tensor: FileTensor) -> FileTensor:
    if not _is_unsigned(tensor) or tensor.quant is None:
        return tensor
    data = tensor.data
    if data is not None:
        data = (data.astype(np.int16) - OFFSET).astype(np.int8)
    points = tuple(point - OFFSET for point in tensor.quant.zero_point)
    return replace(tensor, dtype="int8", quant=replace(tensor.quant, zero_point=points), data=data)


def _with_float_products(subgraph: FileSubgraph) -> FileSubgraph:
    """Weight scales such that ``input_scale * scale`` is the product that uint8 kernels use.

    TFLite's uint8 kernels round that product to float32, its int8 kernels do not.
    """
    tensors = list(subgraph.tensors)
    for op in subgraph.operators:
        for kind, x_index, weight_index in _PRODUCTS:
            if op.kind != kind:
                continue
            x, weight = tensors[op.inputs[x_index]], tensors[op.inputs[weight_index]]
            if _is_unsigned(x) and _is_unsigned(weight) and x.quant and weight.quant:
                quant = _rounded_product(x.quant, weight.quant)
                tensors[op.inputs[weight_index]] = replace(weight, quant=quant)
    return replace(subgraph, tensors=tuple(tensors))


def _rounded_product(x: Quantization, weight: Quantization) -> Quantization:
    product = np.float32(x.scale[0]) * np.float32(weight.scale[0])
    return replace(weight, scale=(float(product) / x.scale[0],))
