"""The end of a detector: boxes decoded from anchors, the best ones that do not overlap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compiler.graph import OpView, Shape
from compiler.registry import classify, params, reference, shape

Array = np.ndarray


@params.of("detection_postprocess")
@dataclass(frozen=True)
class DetectionParams:
    """Inputs boxes (1, N, 4 or more: y, x, height, width), scores (1, N, classes or one more, the
    background first), anchors (N, 4); all float32. Outputs boxes (1, M, 4: top, left, bottom,
    right), classes (1, M), scores (1, M) and the number of detections (1), zeros after those.

    ``scales`` divide y, x, height and width; the latter two are logarithms. ``regular``:
    suppression in each class, of at most ``per_class`` boxes; otherwise by each box's best class,
    with ``classes_per_detection`` classes of each box in the output.
    """

    max_detections: int
    classes: int
    score_threshold: float
    overlap_threshold: float
    scales: tuple[float, float, float, float]
    classes_per_detection: int = 1
    per_class: int = 100
    regular: bool = False


classify("detection_postprocess", "opaque")


@shape.of("detection_postprocess")
def _shape(view: OpView) -> list[tuple[Shape, str]]:
    boxes, scores, anchors, p = view.input(0), view.input(1), view.input(2), view.params
    count = anchors.shape[0]
    if boxes.shape[:2] != (1, count) or scores.shape[:2] != (1, count) or boxes.shape[2] < 4:
        raise ValueError(f"{count} anchors for boxes {list(boxes.shape)}")
    if scores.shape[2] - p.classes not in (0, 1) or anchors.shape[1] != 4:
        raise ValueError(f"{p.classes} classes in scores {list(scores.shape)}")
    rows = p.max_detections * p.classes_per_detection
    return [
        ((1, rows, 4), "float32"), ((1, rows), "float32"), ((1, rows), "float32"), ((1,), "float32")
    ]  # fmt: skip


def _decoded(view: OpView, codes: Array, anchors: Array) -> Array:
    """(N, 4): top, left, bottom, right."""
    scales = np.array(view.params.scales, np.float32)
    code = codes[0, :, :4] / scales
    centre = code[:, :2] * anchors[:, 2:] + anchors[:, :2]
    half = np.float32(0.5) * np.exp(code[:, 2:]) * anchors[:, 2:]
    return np.concatenate([centre - half, centre + half], axis=1).astype(np.float32)


def _overlaps(box: Array, others: Array) -> Array:
    """Intersection over union, 0 where one has no area."""
    area = (box[2] - box[0]) * (box[3] - box[1])
    areas = (others[:, 2] - others[:, 0]) * (others[:, 3] - others[:, 1])
    lengths = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    shared = np.maximum(lengths, 0).prod(axis=1)
    valid = (areas > 0) & (area > 0)
    return np.where(valid, shared / np.where(valid, area + areas - shared, 1), 0)


def _suppress(view: OpView, boxes: Array, scores: Array, limit: int) -> list[int]:
    """Boxes, best first, that do not overlap a better one."""
    alive = scores >= np.float32(view.params.score_threshold)
    chosen: list[int] = []
    while alive.any() and len(chosen) < limit:
        best = int(np.argmax(np.where(alive, scores, -np.inf)))
        chosen.append(best)
        alive &= _overlaps(boxes[best], boxes) <= np.float32(view.params.overlap_threshold)
        alive[best] = False
    return chosen


@reference.of("detection_postprocess")
def _detections(view: OpView, codes: Array, scores: Array, anchors: Array) -> tuple[Array, ...]:
    p = view.params
    boxes, by_class = _decoded(view, codes, anchors), scores[0, :, -p.classes :]
    found: list[tuple[float, int, int]] = []  # score, box, class
    if p.regular:
        for each in range(p.classes):
            chosen = _suppress(view, boxes, by_class[:, each], p.per_class)
            found += [(float(by_class[box, each]), box, each) for box in chosen]
            found = sorted(found, key=lambda entry: -entry[0])[: p.max_detections]
        count = len(found)
    else:
        chosen = _suppress(view, boxes, by_class.max(axis=1), p.max_detections)
        count = len(chosen)
        for box in chosen:
            order = np.argsort(-by_class[box], kind="stable")[: p.classes_per_detection]
            found += [(float(by_class[box, each]), box, int(each)) for each in order]
            found += [(0.0, -1, 0)] * (p.classes_per_detection - len(order))
    result = tuple(np.zeros(t.shape, np.float32) for t in view.outputs)
    for row, (score, box, each) in enumerate(found):
        result[0][0, row] = boxes[box] if box >= 0 else 0
        result[1][0, row], result[2][0, row] = each, score
    result[3][0] = count
    return result
