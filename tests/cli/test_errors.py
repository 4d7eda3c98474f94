"""Wrong things: one line each, the right exit status, nothing half-written, nothing hangs."""

from __future__ import annotations

import errno
import json
import shutil
import socket
import threading
from pathlib import Path

import pytest

from compiler import api, files
from compiler.blob import read_blob
from compiler.cli.main import run
from compiler.errors import KilnError
from compiler.sample import sample_model
from tests.support.tflite_builder import Builder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished build of the sample for this machine."""
    folder = tmp_path_factory.mktemp("built")
    api.build(board="host", out=folder)
    return folder


def fails(capsys: pytest.CaptureFixture[str], code: int, *arguments: object) -> str:
    """The error line of a command that must fail with ``code``."""
    capsys.readouterr()
    assert run([str(argument) for argument in (*arguments, "--json")]) == code
    printed = capsys.readouterr()
    answer = json.loads(printed.out)
    assert set(answer) == {"error", "kind"} and "\n" not in answer["error"]
    errors = [line for line in printed.err.splitlines() if line.startswith("error: ")]
    assert errors == [f"error: {answer['error']}"] and "Traceback" not in printed.err
    return str(answer["error"])


@pytest.mark.parametrize("keep", [0, 1, 9, 1000, 20000])
def test_a_cut_model(keep: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cut.onnx"
    path.write_bytes(sample_model().read_bytes()[:keep])
    error = fails(capsys, 1, "build", path, "--board", "host", "--out", tmp_path / "out")
    assert str(path) in error
    assert not (tmp_path / "out").exists()


def test_a_text_file_and_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.tflite"
    path.write_text("hello, this is no model\n")
    assert "text file" in fails(capsys, 1, "build", path, "--board", "host")
    assert "no such file" in fails(capsys, 2, "build", tmp_path / "x.onnx", "--board", "host")
    assert "folder" in fails(capsys, 2, "build", tmp_path, "--board", "host")


def test_every_unsupported_operator_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    builder = Builder()
    x = builder.tensor("x", (1, 4, 4, 1), "float32")
    y = builder.tensor("first", (1, 4, 4, 1), "float32")
    z = builder.tensor("second", (1, 4, 4, 1), "float32")
    builder.op("LSH_PROJECTION", [x], [y])
    builder.op("LSH_PROJECTION", [y], [z])
    path = tmp_path / "lsh.tflite"
    path.write_bytes(builder.build([x], [z]))
    error = fails(capsys, 1, "build", path, "--board", "host")
    assert "LSH_PROJECTION" in error and "'first'" in error and "'second'" in error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["build", "--board", "mps2-an38"], "mps2-an386"),
        (["build"], "--board"),
        (["fly"], "fly"),
        (["build", "--board", "host", "--io", "int4"], "int4"),
        (["build", "--board", "host", "--shape", "x"], "NAME="),
        (["build", "--board", "host", "--toolchain", "tcc"], "tcc"),
        (["run", "--board", "host", "--out", "nowhere"], "holds no build"),
        (["build", "--board", "host", "--plugin", "no.py"], "no.py"),
        (["simulate", "--input", "no.npz"], "no.npz"),
    ],
)
def test_bad_usage(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert words in fails(capsys, 2, *arguments)


@pytest.mark.parametrize("character", ['"', "\\", ";", "\n"])
def test_a_folder_that_cmake_cannot_take(
    character: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / f"a{character}b"
    error = fails(capsys, 2, "build", "--board", "host", "--out", folder)
    assert "CMake cannot take" in error and not list(folder.glob("*"))


def test_a_folder_that_another_build_is_writing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with files.staged(tmp_path / "out"):
        error = fails(capsys, 1, "build", "--board", "host", "--out", tmp_path / "out")
    assert "another process is writing there" in error


def test_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("compiler.device.cmake.write_settings", full)
    error = fails(capsys, 1, "build", "--board", "host", "--out", tmp_path)
    assert error == f"cannot write '{tmp_path}': No space left on device; choose another place"


def test_a_model_too_big_for_the_board_leaves_the_last_build(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("no arm-none-eabi-gcc")
    builder = Builder()
    x = builder.tensor("x", (1, 600, 600, 1), "int8", scale=0.1)
    y = builder.tensor("y", (1, 600, 600, 1), "int8", scale=0.2)
    builder.op("LOGISTIC", [x], [y])
    path = tmp_path / "big.tflite"
    path.write_bytes(builder.build([x], [y]))
    folder = tmp_path / "out"
    api.build(board="nucleo-f446re", out=folder)
    before = {file: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    error = fails(capsys, 1, "build", path, "--board", "nucleo-f446re", "--out", folder)
    assert "too many" in error and "nucleo-f446re" in error
    assert {file: file.read_bytes() for file in folder.iterdir() if file.is_file()} == before


def test_ports(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["run", "--board", "host", "--out", built, "--port"]
    assert "/dev/no-such-tty" in fails(capsys, 1, *command, "/dev/no-such-tty")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert f"{port}" in fails(capsys, 1, *command, f"socket://127.0.0.1:{port}")


def test_a_port_that_answers_garbage(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = socket.create_server(("127.0.0.1", 0))

    def chatter() -> None:
        connection, _ = server.accept()
        with connection:
            try:
                while connection.recv(4096):
                    connection.sendall(b"Hello from some other firmware\r\n" * 20)
            except OSError:
                pass

    threading.Thread(target=chatter, daemon=True).start()
    port = server.getsockname()[1]
    with server:
        error = fails(
            capsys, 1, "run", "--board", "host", "--out", built,
            "--port", f"socket://127.0.0.1:{port}",
        )  # fmt: skip
    assert f"{port}" in error


def test_no_compiler_and_no_emulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("no arm-none-eabi-gcc")
    api.build(board="mps2-an386", out=tmp_path / "there")
    monkeypatch.setenv("PATH", str(tmp_path))
    error = fails(capsys, 1, "run", "--board", "mps2-an386", "--out", tmp_path / "there")
    assert "qemu-system-arm" in error and "install" in error
    error = fails(
        capsys, 1, "build", "--board", "mps2-an386", "--toolchain", "gcc", "--out", tmp_path / "new"
    )
    assert "gcc-arm-none-eabi" in error and not list((tmp_path / "new").glob("*"))


def test_a_flipped_blob_is_refused(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(built, folder)
    good = (folder / "model.blob").read_bytes()
    for position in range(0, len(good), max(1, len(good) // 400)):
        bad = bytearray(good)
        bad[position] ^= 0x10
        with pytest.raises(KilnError):
            read_blob(bytes(bad))
    (folder / "model.blob").write_bytes(bad)
    fails(capsys, 1, "flash", "--blob", "--board", "host", "--out", folder)
    assert "flash" in fails(capsys, 1, "run", "--board", "host", "--out", folder)


def test_inputs_that_do_not_fit(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import numpy as np

    np.savez(tmp_path / "x.npz", image=np.zeros((1, 1, 28, 27), np.float32))
    command = ["run", "--board", "host", "--out", built]
    assert "[1, 1, 28, 28]" in fails(capsys, 2, *command, "--input", tmp_path / "x.npz")
    (tmp_path / "cat.jpg").write_bytes(b"no picture")
    assert "cat.jpg" in fails(capsys, 2, *command, "--image", tmp_path / "cat.jpg")
    file = tmp_path / "file"
    file.write_text("")
    assert fails(capsys, 1, *command, "--output", file / "y.npz")
