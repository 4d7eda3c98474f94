"""A picture file becomes a model input: resized, normalised, laid out as the model wants it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from compiler.arrays import TensorInfo
from compiler.errors import UsageError
from compiler.files import read_bytes


def image_layout(tensor: TensorInfo) -> tuple[int, int, int, bool]:
    """(height, width, channels, channels first) of an image input. Raises UsageError."""
    shape = tensor.shape
    if len(shape) == 4 and shape[0] == 1:
        if shape[3] in (1, 3):
            return shape[1], shape[2], shape[3], False
        if shape[1] in (1, 3):
            return shape[2], shape[3], shape[1], True
    raise UsageError(
        f"input '{tensor.name}' {list(shape)} is not one picture of 1 or 3 channels; use --input"
    )


def read_image(
    path: Path, tensor: TensorInfo, preprocessing: Mapping[str, object] | None
) -> np.ndarray:
    """The picture at ``path`` as float32 of ``tensor.shape``.

    The shorter side is scaled to fit and the middle is cut out, so that nothing is stretched;
    then ``(pixel - mean) / std`` with the model's own figures, else those of `guess_range`.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    height, width, channels, channels_first = image_layout(tensor)
    read_bytes(path, "image")
    try:
        with Image.open(path) as picture:
            converted = picture.convert("L" if channels == 1 else "RGB")
            fitted = ImageOps.fit(converted, (width, height), Image.Resampling.BILINEAR)
    except (UnidentifiedImageError, OSError):
        raise UsageError(f"image '{path}': not a picture that can be read") from None
    pixels = np.asarray(fitted, np.float32).reshape(height, width, channels)
    mean, std = _figures(tensor, preprocessing)
    normal = ((pixels - mean) / std).astype(np.float32)
    ordered = normal.transpose(2, 0, 1) if channels_first else normal
    return ordered.reshape(tensor.shape)


def _figures(
    tensor: TensorInfo, preprocessing: Mapping[str, object] | None
) -> tuple[np.ndarray, np.ndarray]:
    if preprocessing is None:
        return guess_range(tensor)
    return (
        np.asarray(preprocessing["mean"], np.float32),
        np.asarray(preprocessing["std"], np.float32),
    )


def guess_range(tensor: TensorInfo) -> tuple[np.ndarray, np.ndarray]:
    """(mean, std) that bring 0..255 into what the input's quantization can hold.

    Without quantization: 0..1, the commonest convention.
    """
    if tensor.scale is None or tensor.zero_point is None:
        return np.zeros(1, np.float32), np.full(1, 255, np.float32)
    info = np.iinfo(tensor.dtype)
    low = tensor.scale * (info.min - tensor.zero_point)
    high = tensor.scale * (info.max - tensor.zero_point)
    std = 255.0 / (high - low)
    return np.full(1, -low * std, np.float32), np.full(1, std, np.float32)
