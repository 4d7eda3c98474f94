"""The ONNX front end. ``reads`` is how a plugin teaches it another operator."""

from compiler.importers.onnx_model import lower
from compiler.importers.onnx_model.node import Node, readable, reads
from compiler.importers.onnx_model.reader import read_onnx

__all__ = ["Node", "lower", "read_onnx", "readable", "reads"]
