"""Real files: every tensor of every layer as LiteRT's reference kernels compute it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from compiler.graph import Graph, Preprocessing
from compiler.importers import read_model
from compiler.invariants import check_graph
from compiler.passes import CANONICAL, run_passes
from compiler.simulator import Simulator
from tests.support.zoo_models import zoo_model

INTEGER = [
    "ic_resnet8_int8", "kws_dscnn_int8", "vww_mobilenetv1_025_int8", "ad_autoencoder_int8",
    "kws_onoff_int8", "rps_int8", "magic_wand_int8", "micro_speech_int8",
]  # fmt: skip
FLOAT = [
    "kws_onoff_f32", "rps_f32", "hand_recrop_f32", "blazeface_short_f16", "face_landmark_f16",
    "hand_landmark_lite_f16",
]  # fmt: skip

#: Ranges that inputs of float models may have in use.
RANGES = ((0, 255), (-1, 1), (0, 1), (-50, 50))


def random_inputs(graph: Graph, run: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(run)
    inputs = {}
    for name in graph.inputs:
        tensor = graph.tensors[name]
        if tensor.dtype == "float32":
            low, high = RANGES[run % len(RANGES)]
            inputs[name] = random.uniform(low, high, tensor.shape).astype(np.float32)
        else:
            info = np.iinfo(tensor.dtype)
            values = random.integers(info.min, info.max + 1, tensor.shape)
            inputs[name] = values.astype(tensor.dtype)
    return inputs


class Judge:
    """LiteRT's reference kernels, with every intermediate tensor kept."""

    def __init__(self, path: Path) -> None:
        litert = pytest.importorskip("ai_edge_litert.interpreter")
        self._interpreter = litert.Interpreter(
            str(path),
            experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF,
            experimental_preserve_all_tensors=True,
        )
        self._interpreter.allocate_tensors()
        self._index = {d["name"]: d["index"] for d in self._interpreter.get_tensor_details()}

    def run(self, inputs: dict[str, np.ndarray]) -> None:
        for name, value in inputs.items():
            self._interpreter.set_tensor(self._index[name], value)
        self._interpreter.invoke()

    def knows(self, name: str) -> bool:
        return name in self._index

    def value(self, name: str) -> np.ndarray:
        return self._interpreter.get_tensor(self._index[name])


def compare_integers(name: str, runs: int) -> int:
    """Bytes that were compared; every one of them must be equal."""
    path = zoo_model(f"{name}.tflite")
    graph = read_model(path)
    judge, compared = Judge(path), 0
    for form in (graph, run_passes(graph, CANONICAL)):
        check_graph(form)
        for run in range(runs):
            inputs = random_inputs(graph, run)
            judge.run(inputs)
            seen: dict[str, np.ndarray] = {}
            outputs = Simulator(form).run(inputs, seen.__setitem__)
            for tensor, value in (*seen.items(), *outputs.items()):
                if judge.knows(tensor):
                    np.testing.assert_array_equal(value, judge.value(tensor), err_msg=tensor)
                    compared += value.size
    return compared


@pytest.mark.parametrize("name", INTEGER)
def test_integers_are_equal(name: str) -> None:
    assert compare_integers(name, runs=1) > 1000


@pytest.mark.slow
@pytest.mark.parametrize("name", INTEGER)
def test_integers_are_equal_on_twenty_inputs(name: str) -> None:
    assert compare_integers(name, runs=20) > 1000


@pytest.mark.parametrize("name", FLOAT)
def test_floats_are_close(name: str) -> None:
    """Within 1e-4 of each output's range."""
    path = zoo_model(f"{name}.tflite")
    graph = read_model(path)
    judge, inputs = Judge(path), random_inputs(graph, 2)
    judge.run(inputs)
    for form in (graph, run_passes(graph, CANONICAL)):
        check_graph(form)
        for output, value in Simulator(form).run(inputs).items():
            wanted = judge.value(output)
            span = float(np.abs(wanted).max())
            np.testing.assert_allclose(value, wanted, rtol=0, atol=1e-4 * span, err_msg=output)


def test_run_time_shapes_are_gone() -> None:
    graph = read_model(zoo_model("ad_autoencoder_int8.tflite"))
    assert {op.kind for op in graph.ops} == {
        "quantize", "reshape", "fully_connected", "dequantize",
    }  # fmt: skip


def test_metadata() -> None:
    graph = read_model(zoo_model("hand_landmark_lite_f16.tflite"))
    assert graph.labels == ("Left", "Right")
    assert graph.preprocessing == {"input_1": Preprocessing((0.0,) * 3, (255.0,) * 3)}


def test_custom_transposed_convolution() -> None:
    """LiteRT does not know it, but the builtin operator of the same meaning."""
    import flatbuffers

    from compiler.importers.tflite.schema import schema
    from tests.support.tflite_builder import run_litert

    path = zoo_model("selfie_landscape_f16_customop.tflite")
    graph = run_passes(read_model(path), CANONICAL)
    s = schema()
    model = s.ModelT.InitFromObj(s.Model.GetRootAs(path.read_bytes(), 0))
    for code in model.operatorCodes:
        if code.customCode == b"Convolution2DTransposeBias":
            number = s.BuiltinOperator.TRANSPOSE_CONV
            code.builtinCode = code.deprecatedBuiltinCode = number
            code.customCode, code.version = None, 3
    (main,) = model.subgraphs
    custom = next(op for op in main.operators if op.customOptions is not None)
    shape = s.TensorT()
    shape.name, shape.shape, shape.type = "output shape", [4], s.TensorType.INT32
    shape.buffer = len(model.buffers)
    buffer = s.BufferT()
    buffer.data = np.frombuffer(np.array([1, 144, 256, 1], np.int32).tobytes(), np.uint8)
    model.buffers.append(buffer)
    main.tensors.append(shape)
    image, weight, bias = custom.inputs
    custom.inputs = [len(main.tensors) - 1, weight, image, bias]
    custom.customOptions = None
    custom.builtinOptionsType = s.BuiltinOptions.TransposeConvOptions
    custom.builtinOptions = s.TransposeConvOptionsT()
    custom.builtinOptions.strideH = custom.builtinOptions.strideW = 2
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    inputs = random_inputs(graph, 2)
    (wanted,) = run_litert(bytes(builder.Output()), inputs)
    (found,) = Simulator(graph).run(inputs).values()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-4)
