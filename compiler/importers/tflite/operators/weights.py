"""Integer weights of a float operator, which a float kernel needs as floats."""

from __future__ import annotations

import numpy as np

from compiler.graph import Tensor
from compiler.importers.tflite.node import Node


def dequantized(tensor: Tensor) -> np.ndarray:
    """The real values of a constant, float32, with per-tensor or per-channel scales."""
    assert tensor.data is not None and tensor.quant is not None
    shape = [1] * len(tensor.shape)
    if tensor.quant.axis is not None:
        shape[tensor.quant.axis] = -1
    scale = np.asarray(tensor.quant.scale, np.float32).reshape(shape if shape else ())
    zero_point = np.asarray(tensor.quant.zero_point, np.int32).reshape(shape if shape else ())
    return (tensor.data.astype(np.int32) - zero_point).astype(np.float32) * scale


def is_hybrid(node: Node) -> bool:
    """Whether x (input 0) is float and the weights (input 1) are int8 without zero points."""
    x, weight = node.input(0), node.input(1)
    if x.dtype != "float32" or weight.dtype != "int8" or weight.data is None:
        return False
    return weight.quant is not None and not any(weight.quant.zero_point)


def float_weights(node: Node, index: int, image: int = 0) -> Tensor:
    """The weights; where only they are integers (dynamic-range models), as float32.

    For operators of which there is no hybrid: TFLite quantizes the activations at run time to use
    integer arithmetic, which differs by up to about 1 % of the output's range.
    """
    weight = node.input(index)
    is_hybrid = node.input(image).dtype == "float32" and weight.dtype == "int8"
    if not is_hybrid or weight.quant is None or weight.data is None:
        return weight
    return node.constant("weights", dequantized(weight))
