"""Random networks of TFLite operators, valid by construction: odd sizes, odd edges, odd scales."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.support.random_tensors import RandomNetwork, Shape, Value

_ACTIVATIONS = (0, 0, 1, 3)  # none, none, RELU, RELU6
_SAME, _VALID = 0, 1
_LIMIT = 3000  # elements of a tensor


def _window(n: RandomNetwork, value: Value, dilations: bool) -> tuple[Shape, dict[str, int], Shape]:
    """Kernel, options, and output height and width of a window over a value of rank 4."""
    kernel = (n.number(1, 4), n.number(1, 4))
    strides = (n.number(1, 3), n.number(1, 3))
    dilation = (n.number(1, 2), n.number(1, 2)) if dilations and n.random.random() < 0.2 else (1, 1)
    if dilation != (1, 1):
        strides = (1, 1)
    padding = n.number(0, 1)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    sizes = value.shape[1:3]
    if padding == _VALID and any(s > size for s, size in zip(spans, sizes, strict=True)):
        padding = _SAME
    if padding == _SAME:
        result = tuple(-(-size // s) for size, s in zip(sizes, strides, strict=True))
    else:
        result = tuple(
            (size - span) // s + 1 for size, span, s in zip(sizes, spans, strides, strict=True)
        )
    fields = {"strideH": strides[0], "strideW": strides[1], "padding": padding}
    if dilations:
        fields |= {"dilationHFactor": dilation[0], "dilationWFactor": dilation[1]}
    return kernel, fields, result


def convolution(n: RandomNetwork) -> None:
    value = n.pick(4)
    if value is None:
        return
    kernel, fields, size = _window(n, value, True)
    channels = n.number(1, 9)
    weights, scales = n.weights((channels, *kernel, value.shape[3]), channels, 0, True)
    bias = n.bias(value, scales, shared=n.dtype == "uint8", optional=False)
    fixed = n.result_scale(value, scales, int(np.prod(kernel)) * value.shape[3])
    result = n.tensor((value.shape[0], *size, channels), fixed=fixed)
    n.builder.op(
        "CONV_2D", [value.index, weights, bias], [result.index], "Conv2DOptions", 3,
        fusedActivationFunction=int(n.random.choice(_ACTIVATIONS)), **fields,
    )  # fmt: skip
    n.add(result)


def depthwise(n: RandomNetwork) -> None:
    value = n.pick(4)
    if value is None:
        return
    kernel, fields, size = _window(n, value, True)
    factor = n.number(1, 3)
    channels = factor * value.shape[3]
    if channels > 40:
        return
    weights, scales = n.weights((1, *kernel, channels), channels, 3, True)
    bias = n.bias(value, scales, shared=n.dtype == "uint8", optional=False)
    result = n.tensor(
        (value.shape[0], *size, channels), fixed=n.result_scale(value, scales, int(np.prod(kernel)))
    )
    n.builder.op(
        "DEPTHWISE_CONV_2D", [value.index, weights, bias], [result.index],
        "DepthwiseConv2DOptions", 3, depthMultiplier=factor,
        fusedActivationFunction=int(n.random.choice(_ACTIVATIONS)), **fields,
    )  # fmt: skip
    n.add(result)


def fully_connected(n: RandomNetwork) -> None:
    value = n.pick(2, 3, 4)
    if value is None:
        return
    channels, depth = n.number(1, 11), value.shape[-1]
    weights, scales = n.weights((channels, depth), channels, 0, n.random.random() < 0.3)
    bias = n.bias(value, scales, shared=len(set(scales)) == 1, optional=True)
    keep = n.random.random() < 0.5
    rows = int(np.prod(value.shape[:-1]))
    result = n.tensor(
        (*value.shape[:-1], channels) if keep else (rows, channels),
        fixed=n.result_scale(value, scales, depth),
    )
    n.builder.op(
        "FULLY_CONNECTED", [value.index, weights, bias], [result.index], "FullyConnectedOptions", 5,
        keepNumDims=keep, fusedActivationFunction=int(n.random.choice(_ACTIVATIONS)),
    )  # fmt: skip
    n.add(result)


def pool(n: RandomNetwork) -> None:
    value = n.pick(4)
    if value is None:
        return
    kernel, fields, size = _window(n, value, False)
    kind = str(n.random.choice(["AVERAGE_POOL_2D", "MAX_POOL_2D"]))
    result = n.tensor((value.shape[0], *size, value.shape[3]), like=value)
    n.builder.op(
        kind, [value.index], [result.index], "Pool2DOptions", 2, filterHeight=kernel[0],
        filterWidth=kernel[1], fusedActivationFunction=int(n.random.choice(_ACTIVATIONS)), **fields,
    )  # fmt: skip
    n.add(result)


def _second(n: RandomNetwork, value: Value) -> Value:
    """Another operand: the same tensor, one of the same shape, or a constant that broadcasts."""
    same = [v for v in n.values if v.shape == value.shape]
    if n.random.random() < 0.7:
        return same[n.number(0, len(same) - 1)]
    shape = tuple(d if n.random.random() < 0.5 else 1 for d in value.shape)
    shape = shape[n.number(0, len(shape)) :]
    name = f"t{len(n.builder.tensors)}"
    if n.dtype == "float32":
        data = n.random.normal(0, 1, shape)
        return Value(n.builder.tensor(name, shape, "float32", data=data), shape, 1.0, 0)
    low, high = n.limits()
    scale, zero = n.quantization()
    data = n.random.integers(low, high + 1, shape)
    index = n.builder.tensor(name, shape, n.dtype, scale=scale, zero_point=zero, data=data)
    return Value(index, shape, scale, zero)


def binary(n: RandomNetwork) -> None:
    value = n.pick()
    if value is None:
        return
    other = _second(n, value)
    kinds = ("ADD", "MUL", "SUB", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE")
    kind = kinds[n.number(0, len(kinds) - 1)]
    if kind == "SQUARED_DIFFERENCE" and n.dtype == "uint8":
        return
    alike = kind in ("MAXIMUM", "MINIMUM")
    if alike and (other.scale, other.zero_point) != (value.scale, value.zero_point):
        other = value
    scale = max(value.scale, other.scale) * 2
    if kind in ("MUL", "SQUARED_DIFFERENCE"):
        scale = value.scale * other.scale * 100
    result = n.tensor(
        value.shape, like=value if alike else None, fixed=(scale, n.quantization()[1])
    )
    options = {"ADD": "AddOptions", "MUL": "MulOptions", "SUB": "SubOptions"}.get(kind)
    fields = {"fusedActivationFunction": int(n.random.choice(_ACTIVATIONS))} if options else {}
    pair = [value.index, other.index]
    if n.random.random() < 0.3:
        pair.reverse()
    n.builder.op(kind, pair, [result.index], options, 2, **fields)
    n.add(result)


def unary(n: RandomNetwork) -> None:
    value = n.pick()
    if value is None:
        return
    low = n.limits()[0] if n.dtype != "float32" else 0
    kind, version, fixed = [
        ("RELU", 2, None), ("RELU6", 2, None), ("LOGISTIC", 2, (1 / 256, low)),
        ("TANH", 2, (1 / 128, low + 128)), ("HARD_SWISH", 1, None), ("ABS", 1, None),
        ("QUANTIZE", 2, None), ("LEAKY_RELU", 2, None), ("RSQRT", 2, None),
    ][n.number(0, 8)]  # fmt: skip
    if n.dtype == "float32" and kind in ("QUANTIZE", "RSQRT"):
        return
    if n.dtype == "uint8" and kind in ("ABS", "RSQRT"):
        return
    if kind == "RSQRT" and value.zero_point != low:
        return
    if kind == "HARD_SWISH":  # LiteRT has no shifts for outputs much coarser or finer
        fixed = (value.scale * float(n.random.choice([0.5, 1, 2])), n.quantization()[1])
    result = n.tensor(value.shape, fixed=fixed)
    fields = {"alpha": float(np.float32(0.1))} if kind == "LEAKY_RELU" else {}
    options = "LeakyReluOptions" if fields else None
    n.builder.op(kind, [value.index], [result.index], options, version, **fields)
    n.add(result)


def softmax(n: RandomNetwork) -> None:
    value = n.pick(1, 2, 3, 4)
    if value is None:
        return
    low = n.limits()[0] if n.dtype != "float32" else 0
    result = n.tensor(value.shape, fixed=(1 / 256, low))
    n.builder.op("SOFTMAX", [value.index], [result.index], "SoftmaxOptions", 2, beta=1.0)
    n.add(result)


def mean(n: RandomNetwork) -> None:
    value = n.pick(2, 3, 4)
    if value is None:
        return
    rank = len(value.shape)
    axes = sorted({n.number(0, rank - 1) for _ in range(n.number(1, 2))})
    keep = n.random.random() < 0.5
    sizes = [1 if axis in axes else size for axis, size in enumerate(value.shape)]
    shape = tuple(size for axis, size in enumerate(sizes) if keep or axis not in axes)
    kind = str(n.random.choice(["MEAN", "REDUCE_MAX", "REDUCE_MIN", "SUM"]))
    if kind == "SUM" and n.dtype != "float32":
        return
    result = n.tensor(shape, like=value if kind.startswith("REDUCE") else None)
    given = [axis - rank if n.random.random() < 0.3 else axis for axis in axes]
    n.builder.op(
        kind, [value.index, n.integers(given)], [result.index], "ReducerOptions", 2, keepDims=keep
    )
    n.add(result)


def concatenation(n: RandomNetwork) -> None:
    value = n.pick(1, 2, 3, 4)
    if value is None:
        return
    axis = n.number(0, len(value.shape) - 1)

    def fits(other: Value) -> bool:
        first, second = list(other.shape), list(value.shape)
        same = len(first) == len(second) and first.pop(axis) > 0 and second.pop(axis) > 0
        alike = (other.scale, other.zero_point) == (value.scale, value.zero_point)
        return same and first == second and (alike or n.dtype == "uint8")

    fitting = [v for v in n.values if fits(v)]
    parts = [fitting[n.number(0, len(fitting) - 1)] for _ in range(n.number(1, 3))]
    total = sum(p.shape[axis] for p in parts)
    shape = (*value.shape[:axis], total, *value.shape[axis + 1 :])
    if np.prod(shape) > _LIMIT:
        return
    result = n.tensor(shape, like=value)
    n.builder.op(
        "CONCATENATION", [p.index for p in parts], [result.index], "ConcatenationOptions", 2,
        axis=axis,
    )  # fmt: skip
    n.add(result)


def split(n: RandomNetwork) -> None:
    value = n.pick(1, 2, 3, 4)
    if value is None:
        return
    axis = n.number(0, len(value.shape) - 1)
    counts = [c for c in (2, 3, 4) if value.shape[axis] % c == 0]
    if not counts:
        return
    count = counts[n.number(0, len(counts) - 1)]
    shape = (*value.shape[:axis], value.shape[axis] // count, *value.shape[axis + 1 :])
    parts = [n.tensor(shape, like=value) for _ in range(count)]
    n.builder.op(
        "SPLIT", [n.integers(axis), value.index], [p.index for p in parts], "SplitOptions", 2,
        numSplits=count,
    )  # fmt: skip
    for part in parts:
        n.add(part)


def strided_slice(n: RandomNetwork) -> None:
    value = n.pick(1, 2, 3, 4)
    if value is None:
        return
    begin = [n.number(0, size - 1) for size in value.shape]
    end = [n.number(b + 1, size) for b, size in zip(begin, value.shape, strict=True)]
    steps = [n.number(1, 2) for _ in begin]
    shape = tuple(-(-(e - b) // s) for b, e, s in zip(begin, end, steps, strict=True))
    result = n.tensor(shape, like=value)
    n.builder.op(
        "STRIDED_SLICE", [value.index, n.integers(begin), n.integers(end), n.integers(steps)],
        [result.index], "StridedSliceOptions", 2,
    )  # fmt: skip
    n.add(result)


def transpose(n: RandomNetwork) -> None:
    value = n.pick(2, 3, 4)
    if value is None:
        return
    order = n.random.permutation(len(value.shape)).tolist()
    result = n.tensor(tuple(value.shape[axis] for axis in order), like=value)
    operands = [value.index, n.integers(order)]
    n.builder.op("TRANSPOSE", operands, [result.index], "TransposeOptions", 2)
    n.add(result)


def reshape(n: RandomNetwork) -> None:
    value = n.pick()
    if value is None:
        return
    rest = int(np.prod(value.shape))
    shape: list[int] = []
    for _ in range(n.number(0, 3)):
        divisors = [d for d in range(1, 13) if rest % d == 0]
        shape.append(divisors[n.number(0, len(divisors) - 1)])
        rest //= shape[-1]
    shape.append(rest)
    shape = [shape[place] for place in n.random.permutation(len(shape))]
    result = n.tensor(tuple(shape), like=value)
    operands = [value.index, n.integers(shape)]
    n.builder.op("RESHAPE", operands, [result.index], "ReshapeOptions", newShape=shape)
    n.add(result)


def pad(n: RandomNetwork) -> None:
    value = n.pick(1, 2, 3, 4)
    if value is None:
        return
    amounts = [(n.number(0, 2), n.number(0, 2)) for _ in value.shape]
    kind = str(n.random.choice(["PAD", "MIRROR_PAD"]))
    if kind == "MIRROR_PAD":
        pairs = zip(amounts, value.shape, strict=True)
        amounts = [(min(a, size - 1), min(b, size - 1)) for (a, b), size in pairs]
    shape = tuple(s + a + b for (a, b), s in zip(amounts, value.shape, strict=True))
    if np.prod(shape) > _LIMIT:
        return
    result = n.tensor(shape, like=value)
    options = "PadOptions" if kind == "PAD" else "MirrorPadOptions"
    fields = {} if kind == "PAD" else {"mode": n.number(0, 1) if min(value.shape) > 2 else 0}
    n.builder.op(kind, [value.index, n.integers(amounts)], [result.index], options, 2, **fields)
    n.add(result)


def resize(n: RandomNetwork) -> None:
    value = n.pick(4)
    if value is None:
        return
    size = [n.number(1, 9), n.number(1, 9)]
    kind = str(n.random.choice(["RESIZE_NEAREST_NEIGHBOR", "RESIZE_BILINEAR"]))
    options = "ResizeBilinearOptions" if "BIL" in kind else "ResizeNearestNeighborOptions"
    half, align = [(False, False), (True, False), (False, True)][n.number(0, 2)]
    result = n.tensor((value.shape[0], *size, value.shape[3]), like=value)
    n.builder.op(
        kind, [value.index, n.integers(size)], [result.index], options, 3, alignCorners=align,
        halfPixelCenters=half,
    )  # fmt: skip
    n.add(result)


OPERATORS: tuple[Callable[[RandomNetwork], None], ...] = (
    convolution, convolution, depthwise, depthwise, fully_connected, pool, binary, binary, unary,
    softmax, mean, concatenation, split, strided_slice, transpose, reshape, pad, resize,
)  # fmt: skip


def random_network(seed: int, dtype: str) -> bytes:
    """A ``.tflite`` file of 3 to 25 tries at an operator; what nobody reads is an output."""
    n = RandomNetwork(np.random.default_rng(seed), dtype)
    for _ in range(n.number(1, 2)):
        rank = int(n.random.choice([4, 4, 4, 3, 2, 1]))
        sizes = (n.number(1, 2), n.number(1, 9), n.number(1, 9), n.number(1, 8))
        n.add(n.tensor(sizes[:1] + sizes[4 - rank + 1 :] if rank > 1 else sizes[3:]))
    inputs = [v.index for v in n.values]
    for _ in range(n.number(3, 25)):
        OPERATORS[n.number(0, len(OPERATORS) - 1)](n)
    read = {index for op in n.builder.operators for index in op.inputs}
    outputs = [v.index for v in n.values if v.index not in read or n.random.random() < 0.1]
    return n.builder.build(inputs, [outputs[i] for i in n.random.permutation(len(outputs))])
