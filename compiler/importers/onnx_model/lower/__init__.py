"""How each ONNX operator is lowered, one file per family; importing this registers them all."""

from compiler.importers.onnx_model.lower import (
    control,
    convolution,
    einsum,
    elementwise,
    fourier,
    indexing,
    matrix,
    movement,
    normalization,
    pooling,
    qoperators,
    quantization,
    recurrent,
    reduction,
    resize,
    shapes,
)

__all__ = [
    "control", "convolution", "einsum", "elementwise", "fourier", "indexing", "matrix",
    "movement", "normalization", "pooling", "qoperators", "quantization", "recurrent",
    "reduction", "resize", "shapes",
]  # fmt: skip
