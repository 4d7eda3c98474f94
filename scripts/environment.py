"""Sets up all that Kiln needs on this machine: a virtual environment, packages, cross-compilers.

Only the standard library is used, so that any Python from 3.10 on can start it. What needs root
is installed by apt where that is possible (as root, or by sudo without a password); everything
else goes into `.venv` of the checkout. What cannot be installed is said, with the remedy.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"

#: TFLite's generated schema; its wheels exist for Python up to 3.11 on x86-64 Linux only, and its
#: pinned dependencies (needed by none of our imports) clash with onnx's, so it comes alone.
TFLITE_SUPPORT = "tflite-support==0.4.4"


@dataclass(frozen=True)
class Tool:
    """A program that comes from the system, and what is lost without it."""

    program: str
    package: str  # Debian's
    purpose: str


TOOLS = (
    Tool("gcc", "build-essential", "board host"),
    Tool("arm-none-eabi-gcc", "gcc-arm-none-eabi", "Cortex-M boards (zig from PyPI does it too)"),
    Tool("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu", "Raspberry Pi (zig does it too)"),
    Tool("qemu-system-arm", "qemu-system-arm", "running the emulated Cortex-M boards"),
    Tool("qemu-system-aarch64", "qemu-system-arm", "running the emulated Raspberry Pi"),
    Tool("qemu-aarch64", "qemu-user", "running Raspberry Pi programs on this machine"),
    Tool("gdb-multiarch", "gdb-multiarch", "loading images through a debugger's stub"),
)


def say(text: str) -> None:
    print(f"kiln: {text}", flush=True)


def _run(command: Sequence[str], *, quiet: bool = True, **environment: str) -> bool:
    """Whether the command succeeded; its output is shown only where it fails."""
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.STDOUT if quiet else None,
        stdin=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    if done.returncode and quiet:
        print(done.stdout, file=sys.stderr)
    return done.returncode == 0


def _root_prefix() -> list[str] | None:
    """The words before a command that needs root; None where there is no way."""
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo is None:
        return None
    asked = subprocess.run([sudo, "-n", "true"], capture_output=True, check=False)
    return [sudo, "-n"] if asked.returncode == 0 else None


def apt_install(packages: Sequence[str]) -> bool:
    """Install Debian packages; False where there is no apt, no root, or it fails."""
    prefix = _root_prefix()
    if not packages or shutil.which("apt-get") is None or prefix is None:
        return not packages
    say(f"installing {' '.join(packages)} (apt)")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    command = [*prefix, "apt-get", "-q", "-y", "--no-install-recommends", "install", *packages]
    return _run([*prefix, "apt-get", "-q", "update"], **quiet) and _run(command, **quiet)


def install_tools() -> list[Tool]:
    """Install what is missing of `TOOLS`; returns what still is, having said so."""
    missing = [tool for tool in TOOLS if shutil.which(tool.program) is None]
    packages = list(dict.fromkeys(tool.package for tool in missing))
    if packages and not apt_install(packages):
        for package in packages:
            apt_install([package])
    still = [tool for tool in missing if shutil.which(tool.program) is None]
    for tool in still:
        say(
            f"cannot install {tool.program} (for {tool.purpose}); as root: "
            f"apt-get install {tool.package}"
        )
    return still


def _create_venv() -> Path:
    """The environment's Python, made where it is not there yet."""
    python = VENV / "bin" / "python"
    if python.exists() and _run([str(python), "-m", "pip", "--version"]):
        return python
    say(f"creating {VENV.relative_to(ROOT)}")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if subprocess.run(
        [sys.executable, "-m", "venv", "--clear", str(VENV)], capture_output=True, check=False
    ).returncode:
        made = apt_install([f"python{version}-venv"]) or apt_install(["python3-venv"])
        if not made or not _run([sys.executable, "-m", "venv", "--clear", str(VENV)]):
            sys.exit(
                f"kiln: error: {sys.executable} cannot make a virtual environment; install "
                f"python3-venv (as root: apt-get install python3-venv) and run this again"
            )
    return python


def _pip(python: Path, *arguments: str) -> bool:
    return _run(
        [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *arguments]
    )


def install_packages(extras: Sequence[str]) -> Path:
    """Kiln and its packages in `.venv`, up to date; returns the environment's Python."""
    python = _create_venv()
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    wanted += " " + ",".join(sorted(extras)) + f" {sys.version_info[:2]}"
    stamp = VENV / "kiln-installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    say("installing Python packages into .venv (a minute or two)")
    if not _pip(python, "-e", f"{ROOT}[{','.join(extras)}]"):
        sys.exit("kiln: error: pip could not install the packages; see its message above")
    if (
        sys.version_info < (3, 12)
        and platform.machine() == "x86_64"
        and not _pip(python, "--no-deps", TFLITE_SUPPORT)
    ):
        say(f"no {TFLITE_SUPPORT} here; the schema of ai-edge-litert is used instead")
    stamp.write_text(wanted)
    return python


def prepare(extras: Sequence[str]) -> Path:
    """Everything; without a system cross-compiler zig from PyPI is taken. Returns the Python."""
    if sys.version_info < (3, 10):  # noqa: UP036 (started by any Python, before the install)
        sys.exit(f"kiln: error: Python {platform.python_version()} is too old; use 3.10 or newer")
    missing = {tool.program for tool in install_tools()}
    compilers = {"gcc", "arm-none-eabi-gcc", "aarch64-linux-gnu-gcc"}
    return install_packages([*extras, "zig"] if missing & compilers else extras)
