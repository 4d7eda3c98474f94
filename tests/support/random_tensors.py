"""Random tensors, weights and quantizations, from which random networks grow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.support.tflite_builder import Builder

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Value:
    """A tensor that operators may read."""

    index: int
    shape: Shape
    scale: float
    zero_point: int


@dataclass
class RandomNetwork:
    """Grows one network; ``dtype`` is float32, int8 or uint8."""

    random: np.random.Generator
    dtype: str
    builder: Builder = field(default_factory=Builder)
    values: list[Value] = field(default_factory=list)

    def pick(self, *ranks: int) -> Value | None:
        """A value of one of ``ranks`` (of any, without), the newest ones most often."""
        fitting = [v for v in self.values if not ranks or len(v.shape) in ranks]
        if not fitting:
            return None
        back = min(int(self.random.geometric(0.5)), len(fitting))
        return fitting[-back]

    def number(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``, both included."""
        return int(self.random.integers(low, high + 1))

    def limits(self) -> tuple[int, int]:
        info = np.iinfo(self.dtype)
        return int(info.min), int(info.max)

    def quantization(self) -> tuple[float, int]:
        """A scale between tiny and huge, mostly ordinary; a zero point, often at an end."""
        exponent = self.random.uniform(-7, 0) if self.random.random() < 0.9 else 5.0
        low, high = (-128, 127) if self.dtype == "float32" else self.limits()
        zero = int(self.random.choice([low, high, (low + high + 1) // 2, self.number(low, high)]))
        return float(np.float32(2.0**exponent)), zero

    def tensor(
        self, shape: Shape, like: Value | None = None, fixed: tuple[float, int] | None = None
    ) -> Value:
        """A new activation; quantized as ``like``, as ``fixed`` says, or somehow."""
        scale, zero = fixed or self.quantization()
        if like is not None:
            scale, zero = like.scale, like.zero_point
        name = f"t{len(self.builder.tensors)}"
        quant = {} if self.dtype == "float32" else {"scale": scale, "zero_point": zero}
        index = self.builder.tensor(name, shape, self.dtype, **quant)
        return Value(index, shape, scale, zero)

    def integers(self, values: Sequence[int] | int) -> int:
        """A constant of int32."""
        data = np.array(values, np.int32)
        name = f"t{len(self.builder.tensors)}"
        return self.builder.tensor(name, data.shape, "int32", data=data)

    def weights(
        self, shape: Shape, channels: int, axis: int, per_channel: bool
    ) -> tuple[int, list[float]]:
        """Constant weights, some channels of them dead; and their scales."""
        name = f"t{len(self.builder.tensors)}"
        alive = np.moveaxis(np.ones(shape), axis, -1) * (self.random.random(channels) > 0.1)
        mask = np.moveaxis(alive, -1, axis)
        if self.dtype == "float32":
            data = self.random.normal(0, 0.3, shape) * mask
            return self.builder.tensor(name, shape, "float32", data=data), [1.0] * channels
        scales = [float(np.float32(s)) for s in 2.0 ** self.random.uniform(-8, -3, channels)]
        if self.dtype == "uint8" or not per_channel:
            scales = scales[:1]
        low, zero = (-127, 0) if self.dtype == "int8" else (0, self.number(0, 255))
        data = self.random.integers(low, low + 255, shape) * mask + zero * (1 - mask)
        index = self.builder.tensor(
            name, shape, self.dtype, scale=scales, zero_point=zero, axis=axis, data=data
        )
        return index, scales * (channels if len(scales) == 1 else 1)

    def bias(self, value: Value, scales: list[float], *, shared: bool, optional: bool) -> int:
        """A constant bias for ``value`` times weights of ``scales``, or none."""
        if optional and self.random.random() < 0.2:
            return -1
        channels = len(scales)
        name = f"t{len(self.builder.tensors)}"
        if self.dtype == "float32":
            data = self.random.normal(0, 1, channels)
            return self.builder.tensor(name, (channels,), "float32", data=data)
        factors = scales[:1] if shared else scales
        given = [float(np.float32(value.scale) * np.float32(s)) for s in factors]
        data = self.random.integers(-20000, 20000, channels)
        return self.builder.tensor(name, (channels,), "int32", scale=given, data=data)

    def result_scale(self, value: Value, scales: list[float], terms: int) -> tuple[float, int]:
        """A quantization that a sum of ``terms`` products fills about."""
        if self.random.random() < 0.1:
            return self.quantization()
        spread = value.scale * float(np.median(scales)) * 70 * 70 * terms**0.5
        return float(np.float32(spread / 60)), self.quantization()[1]

    def add(self, value: Value) -> None:
        self.values.append(value)
