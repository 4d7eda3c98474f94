"""The ``.tflite`` front end. ``reads`` registers how an operator of the file is lowered."""

from compiler.importers.tflite.node import Node, readable, reads
from compiler.importers.tflite.reader import read_tflite

__all__ = ["Node", "read_tflite", "readable", "reads"]
