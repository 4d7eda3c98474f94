"""What a run gave: the best classes of a classifier, and all outputs in short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.table import Table

from compiler.report.parts import add_row, bar, new_table
from compiler.report.units import shape_text

SHOWN_VALUES = 6


def top_classes(
    outputs: Mapping[str, np.ndarray], manifest: Mapping[str, Any], count: int = 5
) -> list[dict[str, Any]]:
    """The best classes of the first output: index, label ("" without labels), score.

    Dequantized scores where there are any; equal scores in the order of their index.
    """
    name = manifest["outputs"][0]["name"]
    scores = np.asarray(outputs.get(f"{name}.float", outputs[name])).reshape(-1)
    labels = manifest.get("labels") or []
    best = np.argsort(-scores.astype(np.float64), kind="stable")[:count]
    return [
        {
            "index": int(index),
            "label": str(labels[index]) if index < len(labels) else "",
            "score": float(scores[index]),
        }
        for index in best
    ]


def outputs_table(
    outputs: Mapping[str, np.ndarray], best: Sequence[Mapping[str, Any]] | None
) -> Table:
    """Every output in short; instead, where given, the best classes."""
    return _outputs(outputs) if best is None else _classes(best)


def _classes(best: Sequence[Mapping[str, Any]]) -> Table:
    rows = new_table(("class", "right"), "label", ("score", "right"), "")
    most = max((abs(row["score"]) for row in best), default=0) or 1
    for row in best:
        share = max(row["score"], 0) / most
        add_row(rows, str(row["index"]), row["label"], f"{row['score']:.4f}", bar(share))
    return rows


def _outputs(outputs: Mapping[str, np.ndarray]) -> Table:
    rows = new_table("output", "type", "shape", ("least", "right"), ("most", "right"), "values")
    for name, values in outputs.items():
        flat = values.reshape(-1)
        ends = [_number(end) for end in (flat.min(), flat.max())] if flat.size else ["", ""]
        first = " ".join(_number(value) for value in flat[:SHOWN_VALUES])
        more = " …" if flat.size > SHOWN_VALUES else ""
        add_row(rows, name, str(values.dtype), shape_text(values.shape), *ends, f"{first}{more}")
    return rows


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, np.floating) else str(value)
