"""Labels and normalization out of TFLite metadata; damaged metadata is one line."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

import flatbuffers
import numpy as np
import pytest

from compiler.errors import KilnError, ModelError
from compiler.graph import Graph, Preprocessing, Tensor
from compiler.importers.metadata import read_metadata

GRAPH = Graph(
    "m", {name: Tensor(name, (1, 8, 8, 3), "float32") for name in "xy"}, (), ("x",), ("y",)
)


def table(builder: flatbuffers.Builder, slots: dict[int, tuple[str, int]]) -> int:
    """A table; slots hold ("offset" | "byte", value)."""
    builder.StartObject(max(slots, default=0) + 1)
    for slot, (kind, value) in slots.items():
        if kind == "offset":
            builder.PrependUOffsetTRelativeSlot(slot, value, 0)
        else:
            builder.PrependUint8Slot(slot, value, 0)
    return int(builder.EndObject())


def vector(builder: flatbuffers.Builder, tables: Sequence[int]) -> int:
    builder.StartVector(4, len(tables), 4)
    for each in reversed(tables):
        builder.PrependUOffsetTRelative(each)
    return int(builder.EndVector())


def floats(builder: flatbuffers.Builder, values: Sequence[float]) -> int:
    return int(builder.CreateNumpyVector(np.array(values, np.float32)))


def metadata(
    mean: Sequence[float] = (127.5,), std: Sequence[float] = (127.5,), label_type: int = 2
) -> bytes:
    """One input with normalization, one output with a label file "labels.txt"."""
    b = flatbuffers.Builder(0)
    options = table(b, {0: ("offset", floats(b, mean)), 1: ("offset", floats(b, std))})
    unit = table(b, {0: ("byte", 1), 1: ("offset", options)})
    x = table(b, {4: ("offset", vector(b, [unit]))})
    file = table(b, {0: ("offset", b.CreateString("labels.txt")), 2: ("byte", label_type)})
    y = table(b, {6: ("offset", vector(b, [file]))})
    subgraph = table(b, {2: ("offset", vector(b, [x])), 3: ("offset", vector(b, [y]))})
    b.Finish(table(b, {3: ("offset", vector(b, [subgraph]))}), b"M001")
    return bytes(b.Output())


def model_file(labels: str = "cat\ndog\n", name: str = "labels.txt") -> bytes:
    """Stands for a model with a zip at its end."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, labels)
    return b"TFL3 and so on" + packed.getvalue()


def test_labels_and_normalization() -> None:
    graph = read_metadata(GRAPH, metadata((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)), model_file())
    assert graph.labels == ("cat", "dog")
    assert graph.preprocessing == {"x": Preprocessing((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))}


def test_other_files_are_no_labels() -> None:
    graph = read_metadata(GRAPH, metadata(label_type=1), model_file())
    assert graph.labels == ()


def test_empty_metadata() -> None:
    builder = flatbuffers.Builder(0)
    builder.Finish(table(builder, {}), b"M001")
    assert read_metadata(GRAPH, bytes(builder.Output()), b"") == GRAPH


@pytest.mark.parametrize(
    ("data", "file", "message"),
    [
        (metadata(std=(0.0,)), model_file(), "standard deviation is 0"),
        (metadata(), b"no zip", "damaged"),
        (metadata(), model_file(name="other.txt"), "damaged"),
        (metadata(), model_file("x" * (2 << 20)), "larger than"),
        (metadata()[:30], model_file(), "damaged"),
        (b"", model_file(), "damaged"),
        (metadata(mean=(float("nan"),)), model_file(), "damaged"),
    ],
)
def test_damage(data: bytes, file: bytes, message: str) -> None:
    with pytest.raises(ModelError, match=message) as failure:
        read_metadata(GRAPH, data, file)
    assert "\n" not in str(failure.value)


def test_every_byte_flipped() -> None:
    data, file = metadata(), model_file()
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= 0xFF
        try:
            read_metadata(GRAPH, bytes(changed), file)
        except KilnError as error:
            assert "\n" not in str(error)
