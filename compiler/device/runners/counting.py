"""Exact instruction counts under QEMU's user mode: a plugin counts into a file the guest reads."""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler.board import load_chip
from compiler.device.toolchains import first_toolchain
from compiler.paths import BOARDS

#: Read by boards/host/port.c.
_VARIABLE = "KILN_INSTRUCTION_COUNTER"
_SECONDS = 60


@dataclass(frozen=True)
class Counter:
    """What QEMU is started with. ``folder`` holds plugin and counter as long as it runs."""

    folder: tempfile.TemporaryDirectory[str]
    arguments: Sequence[str]
    environment: Mapping[str, str]


def make_counter(qemu: str, program: Path) -> Counter | None:
    """None where this QEMU takes no plugins or there is no C compiler: time is measured then."""
    version = _plugin_version(qemu)
    compiler = first_toolchain(load_chip("host"))
    if version is None or compiler is None:
        return None
    folder = tempfile.TemporaryDirectory(prefix="kiln-")
    plugin, counter = Path(folder.name, "count.so"), Path(folder.name, "counter")
    counter.write_bytes(bytes(8))
    source = str(BOARDS / "qemu" / "count.c")
    flags = ["-shared", "-fPIC", "-O2", "-std=c99", f"-DPLUGIN_VERSION={version}"]
    arguments = ["-plugin", f"{plugin},counter={counter}"]
    _run([*compiler.command, *flags, source, "-o", str(plugin)])
    # The program refuses the argument and ends; did the plugin see that?
    _run([qemu, *arguments, str(program), "--"])
    if not any(counter.read_bytes()):
        folder.cleanup()
        return None
    return Counter(folder, arguments, {_VARIABLE: str(counter)})


@functools.cache
def _plugin_version(qemu: str) -> int | None:
    """The plugin interface to speak: 2 from QEMU 9 on, which dropped version 1."""
    if b"-plugin" not in _run([qemu, "-h"]).stdout:
        return None
    found = re.search(rb"version (\d+)", _run([qemu, "-version"]).stdout)
    return None if found is None else 1 if int(found[1]) < 9 else 2


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    """A program's result; a failure where it cannot be run."""
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, -1, b"", str(error).encode())
