"""An ONNX file as a checked protobuf: readable, ordered, with its external data in it."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from pathlib import Path

import onnx
import onnx.version_converter
from google.protobuf.message import DecodeError, Message

from compiler.errors import ModelError

OLDEST_OPSET = 7  # before it broadcasting was an attribute
CONVERTED_OPSET = 13


def load_model(path: Path) -> onnx.ModelProto:
    """Raises ModelError if the file is not ONNX, is cut short, or lacks its external data."""
    try:
        model = onnx.load(str(path))
    except (DecodeError, UnicodeDecodeError) as error:
        raise ModelError(f"'{path}': not an ONNX file, or cut short ({error})") from error
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        raise ModelError(f"'{path}': cannot be read: {error}") from error
    if not model.opset_import or not model.graph.output or _has_unknown_fields(model):
        raise ModelError(f"'{path}': not an ONNX file, or cut short; export the model again")
    return modern(model, path)


def modern(model: onnx.ModelProto, path: Path) -> onnx.ModelProto:
    """The model, converted if its opset is older than OLDEST_OPSET. Raises ModelError."""
    version = opset_of(model)
    if version >= OLDEST_OPSET:
        return model
    try:
        return onnx.version_converter.convert_version(model, CONVERTED_OPSET)
    except RuntimeError as error:
        raise ModelError(
            f"'{path}': opset {version} is older than {OLDEST_OPSET} and cannot be converted "
            f"({error}); export the model again"
        ) from error


def opset_of(model: onnx.ModelProto) -> int:
    """Version of the standard operators."""
    versions = {entry.domain: int(entry.version) for entry in model.opset_import}
    return versions.get("", versions.get("ai.onnx", onnx.defs.onnx_opset_version()))


def _has_unknown_fields(model: Message) -> bool:
    """Text or another format can parse as a protobuf that has none of ONNX's fields."""
    return model.ByteSize() > 0 and not model.ir_version


def ordered(nodes: Iterable[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """Nodes so that each follows those it reads, otherwise in the file's order.

    Raises ModelError on a cycle, and where a tensor is produced twice.
    """
    nodes = list(nodes)
    producer: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for output in filter(None, node.output):
            if output in producer:
                raise ModelError(f"tensor '{output}' is produced by two nodes; export again")
            producer[output] = index
    sources = [{producer[i] for i in reads_of(n) if i in producer} for n in nodes]
    waiting = [len(s) for s in sources]
    readers: list[list[int]] = [[] for _ in nodes]
    for index, wanted in enumerate(sources):
        for source in wanted:
            readers[source].append(index)
    ready = [index for index, count in enumerate(waiting) if count == 0]
    result = []
    while ready:
        index = heapq.heappop(ready)
        result.append(nodes[index])
        for reader in readers[index]:
            waiting[reader] -= 1
            if waiting[reader] == 0:
                heapq.heappush(ready, reader)
    if len(result) < len(nodes):
        stuck = next(nodes[i] for i, count in enumerate(waiting) if count)
        raise ModelError(f"node '{label(stuck)}' depends on its own output; export again")
    return result


def reads_of(node: onnx.NodeProto) -> set[str]:
    """Tensors a node reads, those its subgraphs take from around it included."""
    names = set(filter(None, node.input))
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            inner = attribute.g
            made = {output for n in inner.node for output in n.output}
            made.update(i.name for i in inner.input)
            made.update(i.name for i in inner.initializer)
            wanted = {name for n in inner.node for name in reads_of(n)}
            names |= (wanted | {o.name for o in inner.output}) - made
    return names


def label(node: onnx.NodeProto) -> str:
    """What to call a node in a message: its name, else its first output."""
    return node.name or next(filter(None, node.output), node.op_type)
