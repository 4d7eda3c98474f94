"""Every operator of the TFLite front end gives what LiteRT's reference kernels give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tests.support.tflite_builder import Builder
from tests.support.tflite_check import assert_same_as_litert, read

Spec = tuple[Sequence[int], str]  # shape, dtype


@dataclass(frozen=True)
class Case:
    """One operator: tensors are inputs of the model where they are a Spec, else constants."""

    kind: str
    operands: Sequence[Any]
    output: str = "float32"
    options: str | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    outputs: int = 1
    label: str = ""
    version: int = 1

    def build(self) -> bytes:
        model = Builder()
        inputs, indices = [], []
        for number, operand in enumerate(self.operands):
            if operand is None:
                indices.append(-1)
                continue
            if isinstance(operand, tuple):
                index = model.tensor(f"x{number}", *operand)
                inputs.append(index)
            else:
                array = np.asarray(operand)
                index = model.tensor(f"c{number}", array.shape, array.dtype.name, data=array)
            indices.append(index)
        outputs = [model.tensor(f"y{n}", (), self.output) for n in range(self.outputs)]
        model.op(self.kind, indices, outputs, self.options, self.version, **self.fields)
        return model.build(inputs, outputs)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def floats(shape: Sequence[int], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


X = ((1, 4, 5, 3), "float32")
SMALL = ((2, 3), "float32")
INTEGERS = ((2, 3), "int32")
SAME, VALID = 0, 1
RELU6, TANH = 3, 4

UNARY = [
    Case(kind, [SMALL])
    for kind in (
        "ABS", "NEG", "SQUARE", "EXP", "SIN", "COS", "FLOOR", "CEIL", "ROUND", "SIGN", "LOGISTIC",
        "TANH", "HARD_SWISH", "RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "ELU",
    )
]  # fmt: skip
BINARY = [
    Case(kind, [SMALL, ((1, 3), "float32")], output)
    for kinds, output in (
        (("MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "FLOOR_DIV", "FLOOR_MOD"), "float32"),
        (("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"), "bool"),
    )
    for kind in kinds
]
ARITHMETIC = [
    Case(kind, [SMALL, ((1, 3), "float32")], "float32", f"{kind.capitalize()}Options",
         {"fusedActivationFunction": activation}, label=f"activation {activation}")
    for kind in ("ADD", "SUB", "MUL", "DIV")
    for activation in (0, 1, 3)
] + [
    Case(kind, [INTEGERS, INTEGERS], "int32", f"{kind.capitalize()}Options")
    for kind in ("ADD", "SUB", "MUL")
]  # fmt: skip


def window(padding: int, stride: int, activation: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "padding": padding, "strideH": stride, "strideW": stride,
        "fusedActivationFunction": activation, **more,
    }  # fmt: skip


def dilated(factor: int) -> dict[str, int]:
    return {"dilationHFactor": factor, "dilationWFactor": factor}


CONVOLUTIONS = [
    Case("CONV_2D", [((2, 7, 6, 4), "float32"), floats((3, 3, 2, channels)), floats((3,))],
         "float32", "Conv2DOptions", window(padding, stride, RELU6, **dilated(dilation)),
         label=f"padding {padding} stride {stride} dilation {dilation} channels {channels}")
    for padding in (SAME, VALID)
    for stride, dilation, channels in ((1, 1, 4), (2, 1, 4), (1, 2, 4), (3, 1, 4))
] + [
    Case("CONV_2D", [((1, 5, 5, 4), "float32"), floats((6, 3, 3, 2)), floats((6,))],
         "float32", "Conv2DOptions", window(SAME, 1, **dilated(1)), label="groups"),
    Case("DEPTHWISE_CONV_2D", [((1, 6, 5, 2), "float32"), floats((1, 3, 3, 6)), floats((6,))],
         "float32", "DepthwiseConv2DOptions",
         window(SAME, 2, depthMultiplier=3, **dilated(1))),
    Case("DEPTHWISE_CONV_2D", [((1, 6, 5, 2), "float32"), floats((1, 3, 3, 2)), floats((2,))],
         "float32", "DepthwiseConv2DOptions",
         window(VALID, 1, depthMultiplier=1, **dilated(2)), label="dilation"),
    Case("TRANSPOSE_CONV", [ints(1, 7, 6, 2), floats((2, 3, 3, 4)), ((1, 4, 3, 4), "float32")],
         "float32", "TransposeConvOptions", window(SAME, 2)),
    Case("TRANSPOSE_CONV", [ints(1, 9, 7, 2), floats((2, 3, 3, 4)), ((1, 4, 3, 4), "float32"),
                            floats((2,))],
         "float32", "TransposeConvOptions", window(VALID, 2), label="bias"),
]  # fmt: skip
MATRIX = [
    Case("FULLY_CONNECTED", [((2, 1, 6), "float32"), floats((4, 3)), floats((4,))], "float32",
         "FullyConnectedOptions", {"fusedActivationFunction": RELU6}),
    Case("FULLY_CONNECTED", [((2, 5, 3), "float32"), floats((4, 3)), None], "float32",
         "FullyConnectedOptions", {"keepNumDims": True}, label="dimensions kept"),
    Case("FULLY_CONNECTED", [((2, 3), "float32"), floats((4, 3))], "float32",
         "FullyConnectedOptions", {"fusedActivationFunction": RELU6}, label="no bias"),
    Case("BATCH_MATMUL", [((2, 3, 4), "float32"), ((2, 4, 5), "float32")], "float32",
         "BatchMatMulOptions"),
    Case("BATCH_MATMUL", [((2, 3, 4), "float32"), ((1, 5, 4), "float32")], "float32",
         "BatchMatMulOptions", {"adjY": True}, label="transposed"),
]  # fmt: skip
POOLS = [
    Case(kind, [X], "float32", "Pool2DOptions",
         window(padding, 2, RELU6, filterHeight=3, filterWidth=2), label=f"padding {padding}")
    for kind in ("AVERAGE_POOL_2D", "MAX_POOL_2D")
    for padding in (SAME, VALID)
] + [Case("L2_POOL_2D", [X], "float32", "Pool2DOptions",
          window(VALID, 1, filterHeight=2, filterWidth=2))]  # fmt: skip
VIEWS = [
    Case("RESHAPE", [SMALL, ints(3, -1)], "float32", "ReshapeOptions", {"newShape": [3, 2]}),
    Case("RESHAPE", [SMALL], "float32", "ReshapeOptions", {"newShape": [6]}, label="options"),
    Case("SQUEEZE", [((1, 3, 1), "float32")], "float32", "SqueezeOptions", {"squeezeDims": [-1]}),
    Case("SQUEEZE", [((1, 3, 1), "float32")], "float32", "SqueezeOptions", label="all"),
    Case("EXPAND_DIMS", [SMALL, ints(-1)], "float32", "ExpandDimsOptions"),
    Case("PACK", [SMALL, SMALL], "float32", "PackOptions", {"valuesCount": 2, "axis": -1}),
    Case("UNPACK", [SMALL], "float32", "UnpackOptions", {"num": 3, "axis": 1}, outputs=3),
    Case("CONCATENATION", [SMALL, ((2, 2), "float32")], "float32", "ConcatenationOptions",
         {"axis": -1}),
    Case("SPLIT", [np.int32(1), ((2, 4), "float32")], "float32", "SplitOptions",
         {"numSplits": 2}, outputs=2),
    Case("SPLIT_V", [((2, 5), "float32"), ints(1, -1), np.int32(1)], "float32", "SplitVOptions",
         {"numSplits": 2}, outputs=2),
    Case("TRANSPOSE", [X, ints(0, 3, 1, 2)], "float32", "TransposeOptions"),
    Case("PAD", [SMALL, np.array([[1, 0], [2, 3]], np.int32)], "float32", "PadOptions"),
    Case("PADV2", [SMALL, np.array([[1, 0], [2, 3]], np.int32), np.float32(-1.5)], "float32",
         "PadV2Options"),
    Case("MIRROR_PAD", [SMALL, np.array([[1, 0], [2, 1]], np.int32)], "float32",
         "MirrorPadOptions", {"mode": 0}),
    Case("MIRROR_PAD", [SMALL, np.array([[2, 1], [1, 3]], np.int32)], "float32",
         "MirrorPadOptions", {"mode": 1}, label="symmetric"),
    Case("SLICE", [X, ints(0, 1, 2, 0), ints(1, 2, -1, 1)], "float32", "SliceOptions"),
    Case("REVERSE_V2", [X, ints(2)], "float32", "ReverseV2Options"),
    Case("GATHER", [SMALL, ints(2, 0, 2, 1)], "float32", "GatherOptions", {"axis": 1}),
    Case("TILE", [SMALL, ints(2, 3)], "float32", "TileOptions"),
    Case("BROADCAST_TO", [((1, 3), "float32"), ints(4, 2, 3)], "float32", "BroadcastToOptions",
         version=2),
    Case("DEPTH_TO_SPACE", [((1, 2, 3, 8), "float32")], "float32", "DepthToSpaceOptions",
         {"blockSize": 2}),
    Case("SPACE_TO_DEPTH", [((1, 4, 6, 3), "float32")], "float32", "SpaceToDepthOptions",
         {"blockSize": 2}),
    Case("SPACE_TO_BATCH_ND", [X, ints(2, 3), np.array([[0, 2], [1, 0]], np.int32)], "float32",
         "SpaceToBatchNDOptions"),
    Case("BATCH_TO_SPACE_ND", [((6, 2, 2, 3), "float32"), ints(2, 3),
                               np.array([[0, 1], [1, 2]], np.int32)],
         "float32", "BatchToSpaceNDOptions"),
]  # fmt: skip
STRIDED = [
    Case("STRIDED_SLICE", [X, ints(*begin), ints(*end), ints(*step)], "float32",
         "StridedSliceOptions", masks, label=str(masks))
    for begin, end, step, masks in (
        ((0, 1, 0, 0), (1, 4, 5, 3), (1, 2, 3, 1), {}),
        ((0, 3, 0, 0), (1, -9, 5, 3), (1, -1, 1, 2), {"beginMask": 1}),
        ((0, 2), (1, 3), (1, 1), {"shrinkAxisMask": 2}),
        ((0, -1), (1, 0), (1, 1), {"shrinkAxisMask": 2, "endMask": 1}),
        ((0, 1), (0, 2), (1, 1), {"ellipsisMask": 1}),
        ((0, 0, 1), (0, 0, 3), (1, 1, 1), {"newAxisMask": 1, "endMask": 2}),
    )
]  # fmt: skip
RESIZES = [
    Case(kind, [X, ints(7, 9)], "float32", f"{name}Options",
         {"alignCorners": corners, "halfPixelCenters": half}, label=f"{corners} {half}")
    for kind, name in (("RESIZE_BILINEAR", "ResizeBilinear"),
                       ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighbor"))
    for corners, half in ((False, False), (True, False), (False, True))
]  # fmt: skip
REDUCTIONS = [
    Case(kind, [X, ints(1, -2)], "float32", "ReducerOptions", {"keepDims": keep}, label=str(keep))
    for kind in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD")
    for keep in (False, True)
] + [
    Case("REDUCE_ANY", [((2, 3), "bool"), ints(1)], "bool", "ReducerOptions"),
    Case("REDUCE_ALL", [((2, 3), "bool"), ints(1)], "bool", "ReducerOptions"),
    Case("ARG_MAX", [SMALL, np.int32(-1)], "int32", "ArgMaxOptions", {"outputType": 2}),
    Case("ARG_MIN", [SMALL, np.int32(0)], "int64", "ArgMinOptions", {"outputType": 4}),
    Case("SOFTMAX", [SMALL], "float32", "SoftmaxOptions", {"beta": 0.5}),
    Case("LOG_SOFTMAX", [SMALL], "float32", "LogSoftmaxOptions"),
    Case("L2_NORMALIZATION", [SMALL], "float32", "L2NormOptions"),
]  # fmt: skip
OTHERS = [
    Case("POW", [((2, 3), "float32"), np.float32(2)], "float32", "PowOptions"),
    Case("LOGICAL_AND", [((2, 3), "bool"), ((2, 3), "bool")], "bool", "LogicalAndOptions"),
    Case("LOGICAL_OR", [((2, 3), "bool"), ((2, 3), "bool")], "bool", "LogicalOrOptions"),
    Case("LOGICAL_NOT", [((2, 3), "bool")], "bool", "LogicalNotOptions"),
    Case("ADD_N", [SMALL, SMALL, SMALL], "float32", "AddNOptions"),
    Case("ADD", [SMALL, SMALL], "float32", "AddOptions", {"fusedActivationFunction": 2}),
    Case("LEAKY_RELU", [SMALL], "float32", "LeakyReluOptions", {"alpha": 0.1}),
    Case("GELU", [SMALL], "float32", "GeluOptions"),
    Case("GELU", [SMALL], "float32", "GeluOptions", {"approximate": True}, label="tanh"),
    Case("PRELU", [X, floats((1, 1, 3))], "float32"),
    Case("SELECT", [((2,), "bool"), SMALL, SMALL], "float32", "SelectOptions"),
    Case("SELECT_V2", [((2, 1), "bool"), SMALL, SMALL], "float32", "SelectV2Options"),
    Case("CAST", [SMALL], "int32", "CastOptions", {"inDataType": 0, "outDataType": 2}),
    Case("CAST", [INTEGERS], "float32", "CastOptions", {"inDataType": 2, "outDataType": 0}),
    Case("EMBEDDING_LOOKUP", [ints(1, 0, 1), floats((2, 4))], "float32"),
    Case("RANK", [SMALL], "int32", "RankOptions"),
    Case("SHAPE", [SMALL], "int32", "ShapeOptions", {"outType": 2}),
    Case("ZEROS_LIKE", [SMALL], "float32", "ZerosLikeOptions"),
    Case("FILL", [ints(2, 3), np.float32(1.5)], "float32", "FillOptions"),
    Case("RANGE", [np.int32(1), np.int32(9), np.int32(3)], "int32", "RangeOptions"),
    Case("BROADCAST_ARGS", [ints(3, 1), ints(2, 1, 4)], "int32"),
]

CASES = [
    *UNARY, *BINARY, *ARITHMETIC, *CONVOLUTIONS, *MATRIX, *POOLS, *VIEWS, *STRIDED, *RESIZES,
    *REDUCTIONS, *OTHERS,
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind} {case.label}".strip())
def test_same_as_litert(case: Case) -> None:
    assert_same_as_litert(case.build())


def test_positive_domains() -> None:
    """Roots and logarithms, of squares plus a little."""
    for kind in ("SQRT", "RSQRT", "LOG"):
        model = Builder()
        x = model.tensor("x", (2, 3), "float32")
        square = model.tensor("square", (2, 3), "float32")
        little = model.tensor("little", (), "float32", data=np.float32(0.25))
        shifted = model.tensor("shifted", (2, 3), "float32")
        y = model.tensor("y", (2, 3), "float32")
        model.op("SQUARE", [x], [square], "SquareOptions")
        model.op("ADD", [square, little], [shifted], "AddOptions")
        model.op(kind, [shifted], [y])
        assert_same_as_litert(model.build([x], [y]))


def test_activation_without_clamp() -> None:
    """LiteRT has no kernel with a fused TANH, so it stands as its own operator."""
    model = Builder()
    x = model.tensor("x", (2, 3), "float32")
    y = model.tensor("y", (2, 3), "float32")
    model.op("ADD", [x, x], [y], "AddOptions", fusedActivationFunction=TANH)
    assert [op.kind for op in read(model.build([x], [y])).ops] == ["add", "tanh"]
