#!/usr/bin/env python3
"""The main job on an emulated board: build the sample, run it, profile it.

python3 scripts/demo.py [--board mps2-an386]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys

from environment import ROOT, prepare, say


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--board", default="mps2-an386", help="an emulated board, or host")
    board = parser.parse_args().board
    python = str(prepare(["solver"]))
    if board.startswith("mps2-") and shutil.which("qemu-system-arm") is None:
        say(f"without qemu-system-arm '{board}' can be built but not run; taking board host")
        board = "host"
    samples = ROOT / "compiler" / "samples"
    steps = (
        ("build", "--board", board, "--quantize", "int8"),
        ("run", "--board", board, "--image", str(samples / "three.png")),
        ("profile", "--board", board, "--runs", "2"),
    )
    for step in steps:
        say(f"python -m compiler {' '.join(step)}")
        if subprocess.run([python, "-m", "compiler", *step], cwd=ROOT, check=False).returncode:
            say(f"failed: {step[0]}")
            return 1
    say(f"success: the sample was built for {board}, ran there and was profiled; see build/{board}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
