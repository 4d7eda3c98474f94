"""Makes the model files of all participants; runs in the environment of the peers.

    python files.py FOLDER NAME ...

Each network becomes NAME.onnx, NAME.qdq.onnx, NAME.tflite, NAME.int8.tflite, NAME.param, .bin
and NAME.json (its input's shape); the transformer ONNX only. Files that exist are kept.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from host_bench import ncnn_file, onnx_file, tflite_file
from host_bench.networks import NETWORKS


def write(folder: Path, name: str) -> None:
    onnx = folder / f"{name}.onnx"
    if name == "transformer":
        onnx_file.write_transformer(onnx)
        macs = onnx_file.transformer_macs()
    else:
        from ai_edge_litert import schema_py_generated as schema

        network = NETWORKS[name]()
        macs, (height, width, channels) = network.macs, network.image
        onnx_file.write_network(network, onnx)
        for int8, ending in ((False, "tflite"), (True, "int8.tflite")):
            tflite_file.write_network(network, folder / f"{name}.{ending}", schema, int8)
        shape = [channels] if height == width == 1 else [channels, height, width]
        ncnn_file.write_network(network, folder / f"{name}.param")
        (folder / f"{name}.json").write_text(json.dumps(shape))
    onnx_file.quantize(onnx, folder / f"{name}.qdq.onnx")
    (folder / f"{name}.macs").write_text(str(macs))


def main() -> None:
    folder = Path(sys.argv[1])
    for name in sys.argv[2:]:
        # The count of multiply-accumulates is written last.
        if not (folder / f"{name}.macs").exists():
            write(folder, name)
            print(f"made the models of {name}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
