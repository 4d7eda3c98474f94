"""Fully connected layers and batched matrix products."""

from __future__ import annotations

from compiler.errors import UnsupportedError
from compiler.importers.tflite.node import Node, reads
from compiler.importers.tflite.operators.weights import float_weights, is_hybrid
from compiler.importers.tflite.schema import schema
from compiler.operators.hybrid import HybridFullyConnectedParams
from compiler.operators.matrix import BatchMatmulParams, FullyConnectedParams


@reads("FULLY_CONNECTED")
def fully_connected(node: Node) -> None:
    options = node.options("FullyConnectedOptions")
    if options.WeightsFormat() != schema().FullyConnectedOptionsWeightsFormat.DEFAULT:
        raise UnsupportedError("shuffled weights are not supported; convert without them")
    keep_dims, activation = bool(options.KeepNumDims()), options.FusedActivationFunction()
    if is_hybrid(node):
        symmetric = not options.AsymmetricQuantizeInputs()
        hybrid = HybridFullyConnectedParams(keep_dims, symmetric=symmetric)
        inputs = (node.input(0), node.input(1), node.optional(2))
        node.emit_activated("hybrid_fully_connected", inputs, hybrid, activation)
        return
    inputs = (node.input(0), float_weights(node, 1), node.optional(2))
    node.emit_activated("fully_connected", inputs, FullyConnectedParams(keep_dims), activation)


@reads("BATCH_MATMUL")
def batch_matmul(node: Node) -> None:
    options = node.options("BatchMatMulOptions")
    params = BatchMatmulParams(bool(options.AdjX()), bool(options.AdjY()))
    node.emit("batch_matmul", (node.input(0), float_weights(node, 1)), params)
