"""Files that are either whole or not there: written to a temporary, then renamed."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from compiler.errors import KilnError, UsageError


def _unwritable(path: Path, error: OSError) -> KilnError:
    return KilnError(f"cannot write '{path}': {error.strerror}; choose another place")


def write_with(path: Path, write: Callable[[BinaryIO], object], mode: int = 0o644) -> None:
    """Let ``write`` fill a temporary beside ``path``, then rename it into place."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


@contextmanager
def staged(folder: Path, last: str | None = None) -> Iterator[Path]:
    """An empty folder to fill; its files move into ``folder`` at the end, ``last`` as the last.

    A file or folder of that name that was there before is replaced. Where the block fails,
    nothing in ``folder`` has changed.
    """
    with _locked(folder):
        yield from _fill(folder, last)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Make ``folder`` and be the only process that is at work in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise _unwritable(folder, error) from None
    try:
        _lock(folder, handle)
        yield
    finally:
        os.close(handle)


def _lock(folder: Path, handle: int) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise KilnError(
            f"'{folder}': another process is writing there; wait for it or choose another place"
        ) from None
    except OSError:
        pass  # a network file system without locks


def _fill(folder: Path, last: str | None) -> Iterator[Path]:
    stage = folder / ".staging"
    try:
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir()
    except OSError as error:
        raise _unwritable(folder, error) from None
    try:
        yield stage
        if last is not None:
            (folder / last).unlink(missing_ok=True)
        for path in sorted(stage.iterdir(), key=lambda path: (path.name == last, path.name)):
            target = folder / path.name
            if target.is_dir():
                shutil.rmtree(target)
            os.replace(path, target)
    except OSError as error:
        raise _unwritable(folder, error) from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def write_bytes(path: Path, data: bytes, mode: int = 0o644) -> None:
    write_with(path, lambda file: file.write(data), mode)


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode())


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=2) + "\n")


def read_bytes(path: Path, what: str) -> bytes:
    """The file's bytes; raises UsageError that names the file and ``what`` it should be."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"{what} '{path}': no such file") from None
    except IsADirectoryError:
        raise UsageError(f"{what} '{path}': is a folder, not a file") from None
    except OSError as error:
        raise UsageError(f"{what} '{path}': cannot be read: {error.strerror}") from None
