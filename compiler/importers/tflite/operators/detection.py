"""TFLite_Detection_PostProcess, the custom operator at the end of SSD detectors."""

from __future__ import annotations

from typing import Any

from flatbuffers import flexbuffers

from compiler.errors import ModelError
from compiler.graph import Tensor
from compiler.importers.tflite.node import Node, reads
from compiler.operators.detection import DetectionParams
from compiler.operators.quantization import QuantizeParams


@reads("TFLite_Detection_PostProcess")
def detection_postprocess(node: Node) -> None:
    options = _options(node)

    def number(name: str, default: float | None = None) -> float:
        value = options.get(name, default)
        if not isinstance(value, bool | int | float):
            raise ModelError(f"its option '{name}' is missing; convert the model again")
        return float(value)

    params = DetectionParams(
        max_detections=int(number("max_detections")),
        classes=int(number("num_classes")),
        score_threshold=number("nms_score_threshold"),
        overlap_threshold=number("nms_iou_threshold"),
        scales=(number("y_scale"), number("x_scale"), number("h_scale"), number("w_scale")),
        classes_per_detection=int(number("max_classes_per_detection")),
        per_class=int(number("detections_per_class", 100)),
        regular=bool(number("use_regular_nms", False)),
    )
    if min(params.max_detections, params.classes_per_detection, *params.scales) <= 0:
        raise ModelError("its sizes and scales must be more than 0; convert the model again")
    inputs = [_real(node, index) for index in range(3)]
    node.emit("detection_postprocess", inputs, params)


def _options(node: Node) -> dict[str, Any]:
    try:
        options = flexbuffers.Loads(node.operator.custom_options)
    except Exception as error:  # the package raises nearly anything on damaged bytes
        raise ModelError("its options are damaged; get the file again") from error
    if not isinstance(options, dict):
        raise ModelError("its options are no map; get the file again")
    return options


def _real(node: Node, index: int) -> Tensor:
    """The input as float32."""
    tensor = node.input(index)
    if tensor.quant is None:
        return tensor
    like = Tensor("", (), "float32")
    return node.inner("dequantize", (tensor,), QuantizeParams(), like=like)
