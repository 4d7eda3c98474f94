"""The end of a detector, on the reference target."""

from __future__ import annotations

from compiler.graph import OpView
from compiler.kernels import Call, Field, Input, Kernel, Output, Scratch, kernel


@kernel(
    "detection_postprocess", target="reference", name="detection_postprocess_float32__reference",
    source="detection.h", dtypes=("float32",),
)  # fmt: skip
class Detection(Kernel):
    """Boxes are decoded into scratch; the best one is looked for anew each time."""

    def cost(self, view: OpView) -> float:
        return float(view.input(1).elements * 20)

    def call(self, view: OpView) -> Call:
        p = view.params
        _, count, width = view.input(0).shape
        fields: dict[str, Field] = {
            "boxes": count,
            "code_size": width,
            "classes": p.classes,
            "columns": view.input(1).shape[2],
            "max_detections": p.max_detections,
            "classes_per_detection": p.classes_per_detection,
            "per_class": p.per_class,
            "regular": int(p.regular),
            "score_threshold": p.score_threshold,
            "overlap_threshold": p.overlap_threshold,
            "scale": p.scales,
        }
        return Call(
            "detection_shape",
            fields,
            (
                Input(0), Input(1), Input(2),
                Scratch(4 * 4 * count),  # decoded boxes
                Scratch(4 * count),  # best score of each
                Scratch(count),  # whether it may still be chosen
                Output(0), Output(1), Output(2), Output(3),
            ),
        )  # fmt: skip
