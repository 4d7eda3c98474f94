"""Runners against stand-ins: folders, a local sshd, a gdb stub, recorded programs; and failures."""

from __future__ import annotations

import dataclasses
import getpass
import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compiler.board import Board, RunnerChoice, load_board
from compiler.device.client import Client
from compiler.device.firmware import build_image
from compiler.device.runners import flash_image, open_stream, select_runner
from compiler.errors import BoardError, KilnError, ToolError, UsageError
from compiler.paths import ROOT
from tests.support.firmware_model import write_model

Record = Callable[[str, int, str], Path]


def with_options(board: Board, runner: str, **options: Any) -> Board:
    """The board with only this runner, and these options added to its own."""
    own = next((c.options for c in board.runners if c.name == runner), {})
    return dataclasses.replace(board, runners=(RunnerChoice(runner, {**own, **options}),))


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """Some file in a build folder; what is in it does not matter to those who only copy it."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "config.txt").write_text("arm_64bit=1\n")
    path = folder / "image"
    path.write_bytes(bytes(range(256)) * 9)
    return path


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Record:
    """Makes a fake program in PATH that writes down its arguments, prints and exits."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def make(name: str, status: int = 0, says: str = "") -> Path:
        arguments = folder / f"{name}.arguments"
        program = folder / name
        program.write_text(
            f"#!/bin/sh\nfor a; do echo \"$a\" >> '{arguments}'; done\n"
            f"echo -- >> '{arguments}'\necho '{says}' >&2\nexit {status}\n"
        )
        program.chmod(0o755)
        return arguments

    return make


def one_line(error: pytest.ExceptionInfo[KilnError]) -> str:
    assert "\n" not in str(error.value)
    return str(error.value)


# SD card and UF2 drive


def test_sd_card_gets_kernel_and_configuration(image: Path, tmp_path: Path) -> None:
    card = tmp_path / "card"
    card.mkdir()
    (card / "image").write_bytes(b"old")
    said = flash_image(load_board("rpi4-baremetal"), image, str(card))
    assert (card / "image").read_bytes() == image.read_bytes()
    assert (card / "config.txt").read_text() == "arm_64bit=1\n"
    assert sorted(path.name for path in card.iterdir()) == ["config.txt", "image"]
    assert "start4.elf" in said, "a card without the maker's boot files does not start"
    (card / "start4.elf").touch()
    assert "start4.elf" not in flash_image(load_board("rpi4-baremetal"), image, str(card))


def test_sd_card_that_is_not_there(image: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder; mount the SD card") as caught:
        flash_image(load_board("rpi4-baremetal"), image, str(tmp_path / "gone"))
    one_line(caught)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_read_only_card_keeps_its_file(image: Path, tmp_path: Path) -> None:
    card = tmp_path / "card"
    card.mkdir()
    (card / "image").write_bytes(b"old")
    card.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(ToolError, match="cannot write"):
        flash_image(load_board("rpi4-baremetal"), image, str(card))
    assert (card / "image").read_bytes() == b"old"


def test_uf2_drive_gets_the_image(image: Path, tmp_path: Path) -> None:
    drive = tmp_path / "RPI-RP2"
    drive.mkdir()
    (drive / "INFO_UF2.TXT").write_text("UF2 Bootloader v3.0\n")
    assert "restarts" in flash_image(load_board("rpi-pico"), image, str(drive))
    assert (drive / "image").read_bytes() == image.read_bytes()


def test_folder_that_is_no_uf2_drive_is_left_alone(image: Path, tmp_path: Path) -> None:
    folder = tmp_path / "holiday"
    folder.mkdir()
    with pytest.raises(UsageError, match=r"has no INFO_UF2\.TXT; hold BOOTSEL"):
        flash_image(load_board("rpi-pico"), image, str(folder))
    assert list(folder.iterdir()) == []


def test_uf2_drive_not_mounted(image: Path) -> None:
    with pytest.raises(BoardError, match="its drive is not here; hold BOOTSEL"):
        flash_image(load_board("rpi-pico"), image)


# openocd and pyocd


def test_openocd_programs_and_verifies(image: Path, record: Record) -> None:
    arguments = record("openocd", 0, "")
    assert "openocd" in flash_image(load_board("nucleo-f446re"), image)
    assert arguments.read_text().splitlines() == [
        *("-f", "interface/stlink.cfg", "-f", "target/stm32f4x.cfg"),
        *("-c", f"program {{{image}}} verify reset exit", "--"),
    ]


def test_pyocd_is_taken_where_openocd_is_missing(image: Path, record: Record) -> None:
    arguments = record("pyocd", 0, "")
    assert "pyocd" in flash_image(load_board("nucleo-f446re"), image)
    assert arguments.read_text().splitlines() == [
        *("load", "--target", "stm32f446re", str(image), "--"),
        *("reset", "--target", "stm32f446re", "--"),
    ]


def test_both_missing_names_both_and_how_to_get_them(image: Path, record: Record) -> None:
    record("unrelated", 0, "")
    with pytest.raises(ToolError) as caught:
        flash_image(load_board("nucleo-f446re"), image)
    said = one_line(caught)
    assert "apt-get install openocd" in said and "pip install pyocd" in said


def test_last_line_of_a_failing_tool_is_passed_on(image: Path, record: Record) -> None:
    record("openocd", 1, "Error: open failed")
    with pytest.raises(ToolError, match="'openocd' failed: Error: open failed") as caught:
        flash_image(load_board("nucleo-f446re"), image)
    one_line(caught)


# gdb, over the emulator's stub


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.skipif(shutil.which("qemu-system-arm") is None, reason="needs qemu-system-arm")
@pytest.mark.skipif(shutil.which("gdb-multiarch") is None, reason="needs gdb-multiarch")
def test_gdb_loads_and_compares_then_the_firmware_runs(tmp_path: Path) -> None:
    board = load_board("mps2-an386")
    built = build_image(board, write_model(tmp_path))
    stub, serial = free_port(), free_port()
    command = ["qemu-system-arm", "-machine", "mps2-an386", "-display", "none", "-nic", "none"]
    command += ["-serial", f"tcp:127.0.0.1:{serial},server=on,wait=off", "-monitor", "none"]
    emulator = subprocess.Popen([*command, "-S", "-gdb", f"tcp:127.0.0.1:{stub}"])
    try:
        flasher = with_options(board, "gdb", reset="system_reset")
        port = f"gdb://127.0.0.1:{stub}"
        said = flash_image(flasher, built.path, port)
        assert "sections compared equal" in said
        with open_stream(flasher, built.path, f"socket://127.0.0.1:{serial}") as stream:
            assert Client(stream).hello().board == "mps2-an386"
    finally:
        emulator.kill()
        emulator.wait()


# ssh, to a server of our own


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """(client configuration, port) of a server that takes one key, with a home of its own."""
    program = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ["PATH"])
    if program is None or shutil.which("ssh") is None:
        pytest.skip("needs openssh-server and openssh-client")
    port, key, home = free_port(), tmp_path / "key", tmp_path / "home"
    home.mkdir()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    Path("/run/sshd").mkdir(exist_ok=True) if os.geteuid() == 0 else None
    server = tmp_path / "sshd_config"
    server.write_text(
        f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {key}\nPidFile none\n"
        f"AuthorizedKeysFile {key}.pub\nStrictModes no\nUsePAM no\n"
        f"PasswordAuthentication no\nForceCommand cd '{home}' && sh -c \"$SSH_ORIGINAL_COMMAND\"\n"
    )
    client = tmp_path / "ssh_config"
    client.write_text(
        f"IdentityFile {key}\nUserKnownHostsFile /dev/null\nStrictHostKeyChecking no\n"
        "LogLevel ERROR\n"
    )
    process = subprocess.Popen([program, "-D", "-e", "-f", str(server)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if process.poll() is not None:
                pytest.skip("sshd does not start here")
            time.sleep(0.05)
        yield client, port
    finally:
        process.terminate()
        process.wait()


def test_ssh_copies_and_runs(sshd: tuple[Path, int], tmp_path: Path) -> None:
    """The board stands on this machine, so it gets this machine's program."""
    client, port = sshd
    host = load_board("host")
    built = build_image(host, write_model(tmp_path / "model"))
    board = with_options(host, "ssh", arguments=["-F", str(client)])
    url = f"ssh://{getpass.getuser()}@127.0.0.1:{port}"
    with (
        pytest.raises(BoardError, match=r"\.cache/kiln/host"),
        open_stream(board, built.path, url) as stream,
    ):
        stream.read(1, 10)
    assert "copied" in flash_image(board, built.path, url)
    copied = tmp_path / "home" / ".cache" / "kiln" / "host"
    assert copied.read_bytes() == built.path.read_bytes()
    with open_stream(board, built.path, url) as stream:
        assert Client(stream).hello().board == "host"


def test_ssh_to_nowhere_ends_in_one_line(image: Path) -> None:
    board = with_options(load_board("rpi4"), "ssh", arguments=["-F", "none"])
    with pytest.raises(ToolError, match=r"'ssh' failed: .*refused") as caught:
        flash_image(board, image, f"ssh://pi@127.0.0.1:{free_port()}")
    one_line(caught)


@pytest.mark.parametrize("port", ["ssh://", "ssh://pi@host/folder", "ssh://pi@host:x"])
def test_ssh_address_that_is_none(image: Path, port: str) -> None:
    with pytest.raises(UsageError, match="write it as ssh://"):
        flash_image(load_board("rpi4"), image, port)


# Streams that are not there, break off or say nothing


def test_emulator_that_dies_at_once_tells_its_last_line(image: Path) -> None:
    board = with_options(load_board("mps2-an386"), "qemu_system", arguments=["-nonsense"])
    if shutil.which("qemu-system-arm") is None:
        pytest.skip("needs qemu-system-arm")
    with pytest.raises(BoardError, match=r"ended unexpectedly: .*nonsense") as caught:
        open_stream(board, image)
    one_line(caught)


def test_emulator_that_never_connects_is_given_up(
    image: Path, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    record("qemu-fake", 0, "")
    program = image.parent.parent / "bin" / "qemu-fake"
    program.write_text("#!/bin/sh\n[ $1 = -machine -a $2 = help ] && echo m x\nexec sleep 60\n")
    monkeypatch.setattr("compiler.device.runners.qemu_system.CONNECT_SECONDS", 0.3)
    monkeypatch.setattr("compiler.device.runners.qemu_system._machines", lambda _: {"m"})
    board = with_options(load_board("mps2-an386"), "qemu_system", program=str(program), machine="m")
    started = time.monotonic()
    with pytest.raises(BoardError, match="did not open its serial port"):
        open_stream(board, image)
    assert time.monotonic() - started < 5


def test_missing_emulator_and_machine_are_named(image: Path, record: Record) -> None:
    board = load_board("mps2-an386")
    gone = with_options(board, "qemu_system", program="qemu-gone")
    with pytest.raises(ToolError, match=r"'qemu-gone' .*apt-get install qemu-system-arm"):
        open_stream(gone, image)
    record("qemu-old", 0, "")
    old = with_options(board, "qemu_system", program="qemu-old", machine="new", since="9")
    with pytest.raises(ToolError, match="does not have it, QEMU 9 does"):
        open_stream(old, image)


def test_program_that_ends_tells_its_last_line(image: Path) -> None:
    image.write_text("#!/bin/sh\necho first >&2\necho 'cannot go on' >&2\nexit 3\n")
    image.chmod(0o755)
    with (
        open_stream(load_board("host"), image) as stream,
        pytest.raises(BoardError, match="ended unexpectedly: cannot go on"),
    ):
        stream.read(1, 10)


def test_program_that_is_none(image: Path) -> None:
    image.chmod(0o644)
    with pytest.raises(ToolError, match="cannot start"):
        open_stream(load_board("host"), image)


@pytest.mark.parametrize("port", ["/dev/ttyNONE", "COM77", "nonsense://x", "socket://127.0.0.1:1"])
def test_port_that_does_not_exist(image: Path, port: str) -> None:
    with pytest.raises(BoardError, match=f"port '{port}'") as caught:
        open_stream(load_board("nucleo-f446re"), image, port)
    one_line(caught)


@pytest.mark.parametrize("port", ["socket://127.0.0.1", "socket://h:x", "socket://h:70000"])
def test_socket_address_that_is_none(image: Path, port: str) -> None:
    with pytest.raises(BoardError, match="write it as socket://host:port"):
        open_stream(load_board("nucleo-f446re"), image, port)


def test_silent_port_returns_nothing_in_time(image: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"socket://127.0.0.1:{server.getsockname()[1]}"
        with open_stream(load_board("nucleo-f446re"), image, url) as stream:
            started = time.monotonic()
            assert stream.read(10, 0.2) == b""
            assert 0.15 < time.monotonic() - started < 2


def test_connection_that_breaks_off(image: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"socket://127.0.0.1:{server.getsockname()[1]}"
        with open_stream(load_board("nucleo-f446re"), image, url) as stream:
            peer, _ = server.accept()
            peer.sendall(b"ab")
            peer.close()
            assert stream.read(10, 1) == b"ab"
            with pytest.raises(BoardError, match="connection was closed"):
                stream.read(10, 1)


def test_serial_port_passes_bytes_both_ways(image: Path) -> None:
    """A pseudo-terminal is a serial port to pyserial."""
    ours, theirs = os.openpty()
    try:
        with open_stream(load_board("nucleo-f446re"), image, os.ttyname(theirs)) as stream:
            os.write(ours, bytes(range(256)))
            got = b""
            while len(got) < 256 and (data := stream.read(100, 2)):
                assert len(data) <= 100
                got += data
            assert got == bytes(range(256))
            stream.write(b"\x00\xff\x0a\x0d\x11\x13")
            assert os.read(ours, 100) == b"\x00\xff\x0a\x0d\x11\x13"
            assert stream.read(1, 0.05) == b""
    finally:
        os.close(ours)
        os.close(theirs)


def test_peer_that_takes_nothing_is_given_up(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compiler.device.streams.WRITE_SECONDS", 0.3)
    image.write_text("#!/bin/sh\nexec sleep 60\n")
    image.chmod(0o755)
    with (
        open_stream(load_board("host"), image) as stream,
        pytest.raises(BoardError, match="takes no input"),
    ):
        stream.write(bytes(1 << 20))


def test_program_is_reaped_when_forgotten(image: Path) -> None:
    image.write_text("#!/bin/sh\nexec sleep 60\n")
    image.chmod(0o755)
    stream = open_stream(load_board("host"), image)
    process = stream._process.popen  # type: ignore[attr-defined]
    del stream
    assert process.poll() is not None


def test_terminated_command_takes_its_program_along(image: Path) -> None:
    image.write_text("#!/bin/sh\necho $$\nexec sleep 60\n")
    image.chmod(0o755)
    script = f"""
from pathlib import Path
from compiler.board import load_board
from compiler.cli.main import end_tidily_on_termination
from compiler.device.runners import open_stream
end_tidily_on_termination()
with open_stream(load_board("host"), Path({str(image)!r})) as stream:
    print(stream.read(100, 10).decode(), flush=True)
    stream.read(1, 60)
"""
    command = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE)
    assert command.stdout is not None
    child = int(command.stdout.readline())
    os.kill(child, 0)
    command.terminate()
    assert command.wait(10) != 0
    command.stdout.close()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


# Choosing among runners


def test_real_board_wants_a_port_and_says_which(image: Path) -> None:
    with pytest.raises(UsageError, match=r"--port is needed; name a serial port \(/dev/ttyUSB0"):
        open_stream(load_board("nucleo-f446re"), image)


def test_port_decides_the_runner(image: Path) -> None:
    def chosen(name: str, verb: str, port: str | None) -> str:
        return type(select_runner(load_board(name), verb, image, port)).__name__

    assert chosen("mps2-an386", "open", "socket://h:1") == "SerialRunner"
    assert chosen("rpi4", "open", "ssh://pi@h") == "SshRunner"
    assert chosen("rpi3-baremetal", "flash", "/media/boot") == "SdCardRunner"
    assert chosen("rpi3-baremetal", "open", "/dev/ttyUSB0") == "SerialRunner"
    assert chosen("nucleo-f446re", "flash", "gdb://h:3333") == "GdbRunner"


def test_unknown_runner_is_named(image: Path) -> None:
    board = with_options(load_board("host"), "pigeon")
    with pytest.raises(UsageError, match=r"unknown runner 'pigeon'; known: .*openocd"):
        open_stream(board, image)


def test_flashing_what_was_never_built(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="run `build` first"):
        flash_image(load_board("rpi-pico"), tmp_path / "firmware.uf2", str(tmp_path))


def test_streams_can_be_read_while_another_thread_writes(image: Path) -> None:
    image.write_text("#!/bin/sh\nexec cat\n")
    image.chmod(0o755)
    sent = os.urandom(300_000)
    with open_stream(load_board("host"), image) as stream:
        writer = threading.Thread(target=stream.write, args=(sent,))
        writer.start()
        got = b""
        while len(got) < len(sent) and (data := stream.read(65536, 5)):
            got += data
        writer.join()
    assert got == sent
