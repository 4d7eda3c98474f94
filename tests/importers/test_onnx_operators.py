"""Every kind of ONNX operator, one at a time, against ONNX Runtime."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from tests.importers.onnx_models import compare, make_model, noise


@dataclass(frozen=True)
class Case:
    """One node: inputs that vary, then constants, in the node's order."""

    kind: str
    inputs: tuple[np.ndarray, ...]
    constants: tuple[np.ndarray | None, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)
    outputs: int = 1
    opset: int = 18


def run(case: Case, folder: Path) -> None:
    inputs = {f"x{i}": value for i, value in enumerate(case.inputs)}
    constants = {f"c{i}": v for i, v in enumerate(case.constants) if v is not None}
    names = [*inputs, *(f"c{i}" if v is not None else "" for i, v in enumerate(case.constants))]
    outputs = [f"y{i}" for i in range(case.outputs)]
    node = helper.make_node(case.kind, names, outputs, **case.attributes)
    model = make_model([node], inputs, constants, outputs, case.opset)
    compare(folder / "model.onnx", model, inputs)


X = noise(2, 6, 9, 7)
LINE = noise(2, 6, 11)
INT64 = np.int64


def ints(*values: int) -> np.ndarray:
    return np.array(values, INT64)


CONVOLUTIONS = {
    "plain": Case("Conv", (X,), (noise(4, 6, 3, 3), noise(4))),
    "no bias": Case("Conv", (X,), (noise(4, 6, 3, 2),)),
    "pads": Case("Conv", (X,), (noise(4, 6, 3, 3),), {"pads": [1, 2, 0, 1], "strides": [2, 1]}),
    "same upper": Case("Conv", (X,), (noise(4, 6, 4, 3),),
                       {"auto_pad": "SAME_UPPER", "strides": [2, 3]}),
    "same lower": Case("Conv", (X,), (noise(4, 6, 4, 2),), {"auto_pad": "SAME_LOWER"}),
    "dilated": Case("Conv", (X,), (noise(4, 6, 3, 3),),
                    {"dilations": [2, 1], "pads": [2, 1, 2, 1]}),
    "grouped": Case("Conv", (X,), (noise(8, 3, 3, 3), noise(8)), {"group": 2}),
    "depthwise": Case("Conv", (X,), (noise(6, 1, 3, 3), noise(6)), {"group": 6}),
    "multiplier": Case("Conv", (X,), (noise(12, 1, 3, 3),), {"group": 6, "pads": [1, 1, 1, 1]}),
    "1-D": Case("Conv", (LINE,), (noise(5, 6, 3), noise(5)), {"pads": [2, 1], "strides": [2]}),
    "1-D depthwise even": Case("Conv", (LINE,), (noise(6, 1, 4),),
                               {"group": 6, "auto_pad": "SAME_UPPER"}),
    "3-D": Case("Conv", (noise(2, 3, 6, 7, 5),), (noise(4, 3, 3, 2, 3), noise(4)), {
        "strides": [2, 1, 2], "pads": [1, 0, 1, 2, 1, 0], "dilations": [1, 2, 1]}),
    "3-D groups": Case("Conv", (noise(1, 4, 5, 6, 5),), (noise(4, 1, 2, 3, 3),), {"group": 4}),
    "transposed": Case("ConvTranspose", (X,), (noise(6, 4, 3, 3), noise(4)),
                       {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 0]}),
    "transposed groups": Case("ConvTranspose", (X,), (noise(6, 2, 3, 3),), {"group": 3}),
    "transposed shape": Case("ConvTranspose", (X,), (noise(6, 4, 3, 3),),
                             {"strides": [2, 3], "output_shape": [18, 22]}),
    "transposed same": Case("ConvTranspose", (X,), (noise(6, 4, 3, 2),),
                            {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    "transposed 1-D": Case("ConvTranspose", (LINE,), (noise(6, 4, 4),), {"strides": [2]}),
}  # fmt: skip

POOLS = {
    "max": Case("MaxPool", (X,), (), {"kernel_shape": [3, 2], "strides": [2, 2]}),
    "max ceil": Case("MaxPool", (X,), (),
                     {"kernel_shape": [2, 3], "strides": [2, 2], "ceil_mode": 1}),
    "max dilated pads": Case("MaxPool", (X,), (),
                             {"kernel_shape": [2, 2], "dilations": [2, 3], "pads": [1, 1, 0, 1]}),
    "max 1-D": Case("MaxPool", (LINE,), (), {"kernel_shape": [3], "strides": [2]}),
    "average": Case("AveragePool", (X,), (), {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    "average counted": Case("AveragePool", (X,), (), {
        "kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
    "average ceil": Case("AveragePool", (X,), (), {
        "kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}),
    "average counted ceil": Case("AveragePool", (X,), (), {
        "kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 0, 1, 0], "ceil_mode": 1,
        "count_include_pad": 1}),
    "average same": Case("AveragePool", (X,), (), {
        "kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    "average 3-D": Case("AveragePool", (noise(1, 2, 5, 6, 7),), (), {
        "kernel_shape": [2, 3, 3], "strides": [2, 1, 2], "pads": [0, 1, 1, 1, 1, 0]}),
    "max 3-D": Case("MaxPool", (noise(1, 2, 5, 6, 7),), (), {
        "kernel_shape": [2, 2, 3], "strides": [1, 2, 2], "ceil_mode": 1}),
    "lp": Case("LpPool", (X,), (), {"kernel_shape": [2, 3], "p": 3}),
    "global average": Case("GlobalAveragePool", (X,)),
    "global max": Case("GlobalMaxPool", (X,)),
}  # fmt: skip

MATRICES = {
    "gemm": Case("Gemm", (noise(3, 5),), (noise(4, 5), noise(4)), {"transB": 1}),
    "gemm factors": Case("Gemm", (noise(3, 5),), (noise(5, 4), noise(1, 4)),
                         {"alpha": 0.5, "beta": 2.0}),
    "gemm transposed": Case("Gemm", (noise(5, 3),), (noise(5, 4),), {"transA": 1}),
    "gemm per row": Case("Gemm", (noise(3, 5),), (noise(5, 4), noise(3, 1))),
    "gemm variable": Case("Gemm", (noise(3, 5), noise(4, 5), noise(4)), (),
                          {"transB": 1, "alpha": 0.5, "beta": 0.25}),
    "matmul weight": Case("MatMul", (noise(2, 3, 5),), (noise(5, 4),)),
    "matmul batch": Case("MatMul", (noise(2, 1, 3, 5), noise(4, 5, 2))),
    "matmul vector": Case("MatMul", (noise(5),), (noise(5, 4),)),
    "matmul by vector": Case("MatMul", (noise(2, 3, 5), noise(5))),
}  # fmt: skip

ELEMENTWISE = {
    **{kind: Case(kind, (X,)) for kind in (
        "Abs", "Neg", "Exp", "Sin", "Cos", "Floor", "Ceil", "Round", "Sign", "Erf", "Sigmoid",
        "Tanh", "HardSwish", "Softplus", "Softsign", "Mish", "Relu", "LeakyRelu", "Elu", "Selu",
        "Celu", "HardSigmoid", "ThresholdedRelu", "Softmax", "LogSoftmax")},
    **{f"{kind} of positive": Case(kind, (np.abs(X) + 0.1,)) for kind in (
        "Sqrt", "Log", "Reciprocal")},
    **{f"{kind} channels": Case(kind, (X,), (noise(6, 1, 1, seed=1),)) for kind in (
        "Add", "Sub", "Mul", "Div", "PRelu", "Min", "Max", "Less", "Greater", "GreaterOrEqual")},
    **{f"{kind} of two": Case(kind, (X, noise(7, seed=2))) for kind in ("Add", "Mul", "Max")},
    "Max of three": Case("Max", (X, X * 2, noise(7))),
    "Mean": Case("Mean", (X, X * 3)),
    "Pow 2": Case("Pow", (X,), (np.float32(2),)),
    "Pow": Case("Pow", (np.abs(X),), (np.float32(1.5),)),
    "Clip": Case("Clip", (X,), (np.float32(-0.5), np.float32(0.5))),
    "Clip above": Case("Clip", (X,), (None, np.float32(0.5))),
    "Clip old": Case("Clip", (X,), (), {"min": -1.0, "max": 0.25}, opset=7),
    "Gelu": Case("Gelu", (X,), (), {"approximate": "tanh"}, opset=20),
    "Softmax old": Case("Softmax", (X,), (), {"axis": 2}, opset=11),
    "Cast": Case("Cast", (X * 5,), (), {"to": 6}),
    "integers": Case("Add", (np.arange(6).reshape(2, 3), ints(1, 2, 3))),
}  # fmt: skip

REDUCTIONS = {
    **{kind: Case(kind, (X,), (ints(1, 3),), {"keepdims": 0}) for kind in (
        "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare",
        "ReduceLogSumExp", "ReduceProd")},
    "ReduceSum all": Case("ReduceSum", (X,)),
    "ReduceMean old": Case("ReduceMean", (X,), (), {"axes": [-1]}, opset=13),
    "ArgMax": Case("ArgMax", (X,), (), {"axis": 1, "keepdims": 0}),
    "ArgMin": Case("ArgMin", (X,), (), {"axis": -1}),
}  # fmt: skip

NORMALIZATIONS = {
    "batch": Case("BatchNormalization", (X,),
                  (noise(6), noise(6, seed=1), noise(6, seed=2), np.abs(noise(6, seed=3)))),
    "layer": Case("LayerNormalization", (X,), (noise(9, 7), noise(9, 7)), {"axis": 2}),
    "layer last": Case("LayerNormalization", (X,), (noise(7),)),
    "instance": Case("InstanceNormalization", (X,), (noise(6), noise(6))),
    "group": Case("GroupNormalization", (X,), (noise(6), noise(6)), {"num_groups": 3}, opset=21),
}  # fmt: skip

MOVEMENT = {
    "Flatten": Case("Flatten", (X,), (), {"axis": 2}),
    "Reshape": Case("Reshape", (X,), (ints(0, -1, 7),)),
    "Squeeze": Case("Squeeze", (noise(1, 3, 1),), (ints(0),)),
    "Unsqueeze": Case("Unsqueeze", (X,), (ints(0, -1),)),
    "Unsqueeze old": Case("Unsqueeze", (X,), (), {"axes": [2]}, opset=11),
    "Transpose": Case("Transpose", (X,), (), {"perm": [2, 0, 3, 1]}),
    "Concat": Case("Concat", (X, X * 2), (X * 3,), {"axis": -2}),
    "Split": Case("Split", (X,), (ints(1, 5),), {"axis": 1}, outputs=2),
    "Split even": Case("Split", (X,), (), {"axis": 2, "num_outputs": 2}, outputs=2),
    "Slice": Case("Slice", (X,), (ints(1, -2), ints(5, 99), ints(1, 3), ints(2, 1))),
    "Slice backwards": Case("Slice", (X,), (ints(-1), ints(-99), ints(2), ints(-3))),
    "Gather": Case("Gather", (X,), (ints(3, 0, -1),), {"axis": 1}),
    "Gather one": Case("Gather", (X,), (np.array(-2, INT64),), {"axis": 2}),
    "Gather at run time": Case("Gather", (X, ints(1, 0)), (), {"axis": 3}),
    "Pad": Case("Pad", (X,), (ints(0, 1, 2, 0, 0, 0, 1, 3), np.float32(0.5))),
    "Pad cuts": Case("Pad", (X,), (ints(0, -1, 2, 0, 0, 0, -1, 3),)),
    "Pad reflect": Case("Pad", (X,), (ints(0, 0, 2, 1, 0, 0, 1, 3),), {"mode": "reflect"}),
    "Pad edge": Case("Pad", (X,), (ints(0, 0, 2, 1, 0, 0, 1, 3),), {"mode": "edge"}),
    "Expand": Case("Expand", (noise(6, 1, 7),), (ints(2, 1, 9, 1),)),
    "Tile": Case("Tile", (X,), (ints(1, 2, 1, 3),)),
    "Where": Case("Where", (X > 0, X, noise(7))),
    "DepthToSpace": Case("DepthToSpace", (noise(1, 8, 3, 2),), (), {"blocksize": 2}),
    "DepthToSpace crd": Case("DepthToSpace", (noise(1, 8, 3, 2),), (),
                             {"blocksize": 2, "mode": "CRD"}),
    "SpaceToDepth": Case("SpaceToDepth", (noise(1, 3, 4, 6),), (), {"blocksize": 2}),
}  # fmt: skip


def resize(mode: str, coordinates: str, *scales: float, **attributes: Any) -> Case:
    given = np.array((1, 1, *scales), np.float32)
    values = {"mode": mode, "coordinate_transformation_mode": coordinates, **attributes}
    return Case("Resize", (noise(1, 2, 5, 6),), (None, given), values)


RESIZES = {
    "nearest": resize("nearest", "asymmetric", 2, 3, nearest_mode="floor"),
    "nearest half pixel": resize("nearest", "half_pixel", 1.7, 0.6),
    "nearest aligned": resize("nearest", "align_corners", 2, 2, nearest_mode="ceil"),
    "linear": resize("linear", "half_pixel", 2, 2),
    "linear down": resize("linear", "half_pixel", 0.6, 0.5),
    "linear aligned": resize("linear", "align_corners", 2, 3),
    "linear asymmetric": resize("linear", "asymmetric", 2, 1.5),
    "linear to one": resize("linear", "pytorch_half_pixel", 0.2, 0.2),
    "cubic": resize("cubic", "half_pixel", 2, 1.5),
    "antialias": resize("linear", "half_pixel", 0.6, 0.5, antialias=1),
    "antialias cubic": resize("cubic", "half_pixel", 0.6, 0.5, antialias=1),
    "not larger": Case("Resize", (noise(1, 2, 5, 6),), (None, None, ints(8, 9)),
                       {"keep_aspect_ratio_policy": "not_larger", "axes": [2, 3]}),
    "sizes": Case("Resize", (noise(1, 2, 5, 6),), (None, None, ints(1, 2, 8, 9)),
                  {"mode": "linear"}),
}  # fmt: skip


SEQUENCE = noise(5, 2, 3)


def layer(kind: str, gates: int, directions: int = 1, **attributes: Any) -> Case:
    """Five steps of three features in two samples, to four units."""
    weights = [noise(directions, gates * 4, size, seed=size) * 0.5 for size in (3, 4)]
    bias = noise(directions, 2 * gates * 4)
    names = {1: "forward", 2: "bidirectional"}
    given = {"hidden_size": 4, "direction": names[directions], **attributes}
    return Case(kind, (SEQUENCE,), (*weights, bias), given, outputs=3 if kind == "LSTM" else 2)


RECURRENT = {
    "plain": layer("RNN", 1),
    "relu": layer("RNN", 1, activations=["Relu"]),
    "both ways": layer("RNN", 1, 2),
    "gru": layer("GRU", 3),
    "gru reset last": layer("GRU", 3, 2, linear_before_reset=1),
    "lstm": layer("LSTM", 4),
    "lstm both ways": layer("LSTM", 4, 2, clip=0.4),
    "lstm reverse": layer("LSTM", 4, direction="reverse"),
}
GRID = np.random.default_rng(3).uniform(-1.2, 1.2, (2, 3, 5, 2)).astype(np.float32)
INDEXING = {
    "gather nd": Case("GatherND", (X,), (ints(0, 5, 1, -1).reshape(2, 2),)),
    "gather elements": Case("GatherElements", (LINE,), (np.argsort(LINE, 2),), {"axis": 2}),
    "scatter elements": Case("ScatterElements", (noise(3, 4),), (
        ints(0, 2, 1).reshape(1, 3), noise(1, 3)), {"axis": 1}),
    "scatter add": Case("ScatterElements", (noise(3, 4),), (
        ints(0, 0, 1).reshape(1, 3), noise(1, 3)), {"axis": 1, "reduction": "add"}),
    "scatter nd": Case("ScatterND", (noise(3, 4),), (ints(2, 0).reshape(2, 1), noise(2, 4))),
    "top k": Case("TopK", (LINE,), (ints(3),), {"axis": 1}, outputs=2),
    "least k": Case("TopK", (LINE,), (ints(2),), {"largest": 0}, outputs=2),
    "cumsum": Case("CumSum", (LINE,), (ints(2),), {"exclusive": 1, "reverse": 1}),
    "one hot": Case("OneHot", (ints(1, -1, 4),), (ints(5), np.array([0, 2], np.float32))),
    "trilu": Case("Trilu", (LINE,), (ints(1),), {"upper": 0}),
    "reverse": Case("ReverseSequence", (LINE,), (ints(2, 1),), {"batch_axis": 0, "time_axis": 1}),
    "einsum": Case("Einsum", (noise(2, 3, 4), noise(2, 4, 5)), (), {"equation": "bij,bjk->bik"}),
    "einsum heads": Case("Einsum", (noise(2, 3, 4, 5), noise(2, 6, 4, 5, seed=1)), (), {
        "equation": "bqhd,bkhd->bhqk"}),
    "einsum ellipsis": Case("Einsum", (noise(2, 3, 4), noise(4, 5)), (), {
        "equation": "...i,ij->j..."}),
    "einsum three": Case("Einsum", (noise(3, 4), noise(4, 5, seed=1), noise(3, 5, seed=2)), (), {
        "equation": "ij,jk,ik->k"}),
    "einsum implicit": Case("Einsum", (noise(3, 4), noise(4, 5)), (), {"equation": "ij,jk"}),
    "einsum one": Case("Einsum", (noise(3, 4, 2),), (), {"equation": "ijk->ki"}),
    "dft": Case("DFT", (noise(2, 10, 1),), (), {"axis": 1, "onesided": 1}),
    "dft inverse": Case("DFT", (noise(2, 6, 3, 2),), (), {"axis": 1, "inverse": 1}),
    "stft": Case("STFT", (noise(1, 40, 1),), (
        np.array(8, INT64), np.hanning(16).astype(np.float32))),
    "column to image": Case("Col2Im", (noise(1, 12, 30),), (ints(6, 7), ints(2, 2)), {
        "pads": [0, 0, 0, 0]}),
    "compress": Case("Compress", (LINE,), (np.array([1, 0, 1, 0, 0, 1], bool),), {"axis": 1}),
    "wrap": Case("Pad", (LINE,), (ints(0, 1, 2, 0, 0, 3),), {"mode": "wrap"}, opset=19),
    "grid": Case("GridSample", (X[:, :, :5, :6], GRID), (), {"align_corners": 1}, opset=20),
    "grid cubic": Case("GridSample", (X, GRID), (), {
        "mode": "cubic", "padding_mode": "reflection"}, opset=20),
}  # fmt: skip


def named(*groups: dict[str, Case]) -> list[Any]:
    return [
        pytest.param(case, id=f"{case.kind}-{name.replace(' ', '_')}")
        for group in groups
        for name, case in group.items()
    ]


@pytest.mark.parametrize("case", named(CONVOLUTIONS, POOLS, MATRICES, NORMALIZATIONS))
def test_heavy_operator(case: Case, tmp_path: Path) -> None:
    run(case, tmp_path)


@pytest.mark.parametrize("case", named(ELEMENTWISE, REDUCTIONS, MOVEMENT))
def test_light_operator(case: Case, tmp_path: Path) -> None:
    run(case, tmp_path)


@pytest.mark.parametrize("case", named(RESIZES, RECURRENT, INDEXING))
def test_special_operator(case: Case, tmp_path: Path) -> None:
    run(case, tmp_path)
