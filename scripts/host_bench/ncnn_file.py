"""Networks as ncnn's .param and .bin, float32. (The tools for its int8 are not on PyPI.)"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from host_bench.networks import Layer, Network


def write_network(network: Network, path: Path) -> None:
    """``path`` and, beside it, the weights as ``.bin``."""
    lines, uses = ["Input input 0 1 input"], Counter(n for x in network.layers for n in x.inputs)
    copies: dict[str, list[str]] = {}
    data = bytearray()

    def finish(blob: str) -> None:
        # A blob has one reader; those with several go through a Split.
        if uses[blob] > 1:
            copies[blob] = [f"{blob}.{i}" for i in range(uses[blob])]
            names = " ".join(copies[blob])
            lines.append(f"Split {blob}.split 1 {uses[blob]} {blob} {names}")

    finish("input")
    for layer in network.layers:
        inputs = [copies[n].pop() if n in copies else n for n in layer.inputs]
        lines.extend(_lines(layer, inputs))
        if layer.weights is not None and layer.bias is not None:
            data += bytes(4) + layer.weights.transpose(0, 3, 1, 2).tobytes() + layer.bias.tobytes()
        finish(layer.name)
    blobs = len({name for line in lines for name in line.split()[4:] if "=" not in name})
    path.write_text("\n".join(["7767517", f"{len(lines)} {blobs}", *lines, ""]))
    path.with_suffix(".bin").write_bytes(data)


def _lines(layer: Layer, inputs: list[str]) -> list[str]:
    top, left, bottom, right = layer.padding
    window = (
        f"1={layer.kernel[1]} 11={layer.kernel[0]} 2=1 3={layer.stride} 4={left} 14={top} "
        f"15={right} 16={bottom}"
    )
    clamp = {"none": "", "relu": " 9=1", "relu6": " 9=3 -23310=2,0.0,6.0"}[layer.activation]
    size = layer.weights.size if layer.weights is not None else 0
    depth, name = layer.shape[2], layer.name
    ends = f"{len(inputs)} 1 {' '.join(inputs)} {name}"
    if layer.kind == "conv":
        return [f"Convolution {name} {ends} 0={depth} {window} 5=1 6={size}{clamp}"]
    if layer.kind == "depthwise":
        return [
            f"ConvolutionDepthWise {name} {ends} 0={depth} {window} 5=1 6={size} 7={depth}{clamp}"
        ]
    if layer.kind == "dense":
        return [f"InnerProduct {name} {ends} 0={depth} 1=1 2={size}{clamp}"]
    if layer.kind == "average":
        return [f"Pooling {name} {ends} 0=1 4=1"]
    if layer.kind == "max":
        pads = f"3={left} 13={top} 14={right} 15={bottom}"
        return [f"Pooling {name} {ends} 0=0 1={layer.kernel[1]} 2={layer.stride} {pads} 5=1"]
    if layer.activation == "none":
        return [f"BinaryOp {name} {ends} 0=0"]
    both = f"{len(inputs)} 1 {' '.join(inputs)} {name}.sum"
    return [f"BinaryOp {name}.add {both} 0=0", f"ReLU {name} 1 1 {name}.sum {name}"]
