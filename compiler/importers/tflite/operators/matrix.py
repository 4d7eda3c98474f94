"""Fully connected layers and batched matrix products."""

from __future__ import annotations

from compiler.errors import UnsupportedError
from compiler.importers.tflite.node import Node, reads
from compiler.importers.tflite.operators.weights import float_weights
from compiler.importers.tflite.schema import schema
from compiler.operators.matrix import BatchMatmulParams, FullyConnectedParams


@reads("FULLY_CONNECTED")
def fully_connected(node: Node) -> None:
    options = node.options("FullyConnectedOptions")
    if options.WeightsFormat() != schema().FullyConnectedOptionsWeightsFormat.DEFAULT:
        raise UnsupportedError("shuffled weights are not supported; convert without them")
    params = FullyConnectedParams(keep_dims=bool(options.KeepNumDims()))
    inputs = (node.input(0), float_weights(node, 1), node.optional(2))
    node.emit_activated("fully_connected", inputs, params, options.FusedActivationFunction())


@reads("BATCH_MATMUL")
def batch_matmul(node: Node) -> None:
    options = node.options("BatchMatMulOptions")
    params = BatchMatmulParams(bool(options.AdjX()), bool(options.AdjY()))
    node.emit("batch_matmul", (node.input(0), float_weights(node, 1)), params)
