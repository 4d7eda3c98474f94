"""What a step knows of its constants."""

from __future__ import annotations

import numpy as np

from compiler.graph import Graph, Op, Tensor
from compiler.kernels import Call, Constant, Input, Kernel, Output
from compiler.schedule import Step, scratch_name


def test_weight_bytes_count_constants_from_the_file_and_from_the_compiler() -> None:
    tensors = {
        "x": Tensor("x", (1, 8), "int8"),
        "weight": Tensor("weight", (4, 8), "int8", data=np.zeros((4, 8), np.int8)),
        "y": Tensor("y", (1, 4), "int8"),
    }
    op = Op("fully_connected", "dense", ("x", "weight", ""), ("y",))
    view = Graph("net", tensors, (op,), ("x",), ("y",)).view(op)
    bias = Constant(np.zeros(4, np.int32), "bias")
    step = Step(0, view, Kernel(), Call("s", {}, (Input(0), Input(1), bias, Output(0))))
    assert step.weight_bytes == 32 + 16


def test_scratch_names_tell_step_and_operand_apart() -> None:
    assert len({scratch_name(1, 11), scratch_name(11, 1), scratch_name(1, 1)}) == 3
