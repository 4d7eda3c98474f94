#!/usr/bin/env python3
"""Runs the tests; arguments go to pytest: `python3 scripts/test.py -m slow` for the long ones."""

from __future__ import annotations

import subprocess
import sys

from environment import ROOT, prepare, say


def main() -> int:
    python = str(prepare(["solver", "zig", "test"]))
    checks = (
        ("ruff", [python, "-m", "ruff", "check", "."]),
        ("mypy", [python, "-m", "mypy"]),
        ("pytest", [python, "-m", "pytest", "-n", "2", *sys.argv[1:]]),
    )
    for name, command in checks:
        say(f"running {name}")
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            say(f"failed: {name}")
            return 1
    say("success: every test passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
