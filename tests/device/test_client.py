"""The client against the real C server, over good, bad and dead lines."""

from __future__ import annotations

import dataclasses
import os
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from compiler.blob import write_blob
from compiler.device.client import Client
from compiler.device.protocol import Code, Packet, encode_frame
from compiler.device.streams import ProcessStream, connect_socket
from compiler.errors import BoardError
from tests.support.fake_model import fake_blob
from tests.support.faulty_stream import FaultyStream, ScriptedStream

INPUT = bytes(range(16))


def expected_output(state: int) -> bytes:
    """input + table + state, with input[i] = i and table[i] = 3 * i."""
    return (4 * np.arange(16, dtype=np.int32) + state).tobytes()


@pytest.fixture(params=["firmware", "firmware_large"])
def client(c_tests: Path, request: pytest.FixtureRequest) -> Iterator[Client]:
    """Payloads of 128 bytes (and memory for another blob), and of 4096."""
    with ProcessStream("the firmware", [str(c_tests / request.param)]) as stream:
        yield Client(stream)


@pytest.fixture
def small(c_tests: Path) -> Iterator[Client]:
    with ProcessStream("the firmware", [str(c_tests / "firmware")]) as stream:
        yield Client(stream)


def test_hello_tells_all_of_the_model(client: Client) -> None:
    info = client.hello()
    data = write_blob(fake_blob())
    assert (info.board, info.unit, info.steps, info.load_status) == ("fake", "ns", 2, 0)
    assert info.code_hash == bytes(range(16))
    assert (info.arena_bytes, info.arena_capacity_bytes) == (128, 128)
    assert (info.blob_bytes, info.blob_crc) == (len(data), int.from_bytes(data[12:16], "little"))
    (tensor,) = info.inputs
    assert (tensor.name, tensor.dtype, tensor.shape) == ("input", "int8", (1, 16))
    assert (tensor.bytes, tensor.scale, tensor.zero_point) == (16, 0.5, -3)
    (tensor,) = info.outputs
    assert (tensor.name, tensor.dtype, tensor.shape) == ("output", "int32", (1, 16))


def test_run_state_and_reset(client: Client) -> None:
    client.write_input(0, INPUT)
    for state in (100, 101):
        assert client.run() > 0
        assert client.read_output(0) == expected_output(state)
    client.reset_state()
    client.run(3)
    assert client.read_output(0) == expected_output(102)


def test_reset_of_the_board_starts_it_afresh(client: Client) -> None:
    client.write_input(0, INPUT)
    client.run(5)
    assert client.reset_board().board == "fake"
    client.write_input(0, INPUT)
    client.run()
    assert client.read_output(0) == expected_output(100)


def test_profile(client: Client) -> None:
    client.write_input(0, INPUT)
    measured = client.profile(4)
    assert measured.ticks.shape == (4, 2)
    assert (measured.ticks > 0).all()
    assert (measured.totals >= measured.ticks.sum(axis=1)).all()
    client.run()
    assert client.read_output(0) == expected_output(104)


def test_memory_sees_the_last_byte_written(client: Client) -> None:
    """The state's 2 bytes at 96 are the highest; bytes 98 to 128 are never touched."""
    client.write_input(0, INPUT)
    client.run()
    assert client.memory().arena_high_water_bytes == 112


def test_wrong_index_and_size(client: Client) -> None:
    with pytest.raises(BoardError, match="there is no input 1"):
        client.write_input(1, INPUT)
    with pytest.raises(BoardError, match="16 bytes on the board, 15 were given"):
        client.write_input(0, INPUT[:15])
    with pytest.raises(BoardError, match="there is no output -1"):
        client.read_output(-1)


def other_blob() -> bytes:
    """As the fake model's, but the state begins at 1000."""
    blob = fake_blob()
    return write_blob(
        dataclasses.replace(blob, constants=blob.constants[:16] + struct.pack("<h", 1000))
    )


def test_load_replaces_the_blob_twice(small: Client) -> None:
    for data, state in ((other_blob(), 1000), (write_blob(fake_blob()), 100), (other_blob(), 1000)):
        assert small.load_blob(data).blob_crc == int.from_bytes(data[12:16], "little")
        small.write_input(0, INPUT)
        small.run()
        assert small.read_output(0) == expected_output(state)


def test_a_bad_blob_leaves_the_old_one_running(small: Client) -> None:
    small.load_blob(other_blob())
    small.write_input(0, INPUT)
    damaged = bytearray(other_blob())
    damaged[100] ^= 4
    larger = dataclasses.replace(fake_blob(), arena_bytes=256)
    other_kernels = dataclasses.replace(fake_blob(), code_hash=bytes(16))
    for data, reason in (
        (bytes(damaged), "damaged"),
        (write_blob(larger), "larger arena"),
        (write_blob(other_kernels), "other kernels"),
        (b"no blob at all" * 10, "no Kiln blob"),
        (bytes(5000), "larger than the memory"),
    ):
        with pytest.raises(BoardError, match=reason):
            small.load_blob(data)
    small.run()
    assert small.read_output(0) == expected_output(1000)


def test_load_without_memory_for_it(c_tests: Path) -> None:
    with (
        ProcessStream("the firmware", [str(c_tests / "firmware_large")]) as stream,
        pytest.raises(BoardError, match="no memory for a second blob"),
    ):
        Client(stream).load_blob(other_blob())


@pytest.mark.parametrize("program", ["firmware", "firmware_large"])
@pytest.mark.parametrize("seed", range(4))
def test_a_bad_line_gives_right_answers(c_tests: Path, program: str, seed: int) -> None:
    """One transfer in five is damaged; a run executed twice would show in the state."""
    with ProcessStream("the firmware", [str(c_tests / program)]) as inner:
        stream = FaultyStream(inner, seed, rate=0.2)
        client = Client(stream, timeout=0.03, attempts=40)
        for state in range(100, 130):
            client.write_input(0, INPUT)
            client.run()
            assert client.read_output(0) == expected_output(state)
        if program == "firmware":
            client.load_blob(other_blob())
            client.write_input(0, INPUT)
            client.run()
            assert client.read_output(0) == expected_output(1000)
        assert sum(stream.faults.values()) > 20
        assert any(key.endswith("to") for key in stream.faults)


def raw_answers(program: Path, wire: bytes) -> bytes:
    done = subprocess.run([program], input=wire, capture_output=True, timeout=20)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_a_repeated_request_is_answered_but_not_executed_again(c_tests: Path) -> None:
    run = encode_frame(Packet(1, Code.RUN, struct.pack("<I", 1)))
    read = encode_frame(Packet(2, Code.READ, struct.pack("<HII", 0, 0, 4)))
    hello = encode_frame(Packet(0, Code.HELLO, b""))
    write = encode_frame(Packet(0, Code.WRITE, struct.pack("<HI", 0, 0) + INPUT))
    out = raw_answers(c_tests / "firmware", hello + write + run * 5 + read)
    assert encode_frame(Packet(2, Code.READ | 0x80, b"\0" + struct.pack("<i", 100))) in out


def test_the_server_survives_noise(c_tests: Path) -> None:
    """Random bytes, over-long frames and well-formed nonsense; then it still answers."""
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 256, 200_000, dtype=np.uint8).tobytes() + b"\1" * 10_000
    # RUN might run for ever, and RESET_BOARD loses what is on its way.
    codes = [code for code in range(20) if code not in (Code.RUN, Code.RESET_BOARD)]
    nonsense = b"".join(
        encode_frame(Packet(i & 255, int(rng.choice(codes)), rng.bytes(int(rng.integers(0, 40)))))
        for i in range(3000)
    )
    hello = encode_frame(Packet(9, Code.HELLO, b""))
    for program in ("firmware", "firmware_large"):
        out = raw_answers(c_tests / program, noise + b"\0" + nonsense + hello)
        assert b"fake" in out[-80:]


def test_a_dead_line_ends_in_time_with_one_line() -> None:
    stream = ScriptedStream()
    start = time.monotonic()
    with pytest.raises(BoardError, match="port 'scripted': no answer to HELLO"):
        Client(stream, timeout=0.05, attempts=4).hello()
    assert time.monotonic() - start < 2
    assert stream.writes == 4


def test_garbage_is_named() -> None:
    with pytest.raises(
        BoardError, match="answers, but not with Kiln frames: 'Linux login:"
    ) as error:
        Client(ScriptedStream(b"Linux login: \r\n"), timeout=0.02, attempts=3).hello()
    assert "baud rate" in str(error.value) and "\n" not in str(error.value)


def test_endless_garbage_ends_too() -> None:
    class Endless(ScriptedStream):
        def read(self, max_bytes: int, timeout_seconds: float) -> bytes:
            return os.urandom(min(max_bytes, 4096))

    start = time.monotonic()
    with pytest.raises(BoardError, match="not with Kiln frames"):
        Client(Endless(), timeout=0.1, attempts=3).hello()
    assert time.monotonic() - start < 3


def test_a_loop_is_named() -> None:
    with pytest.raises(BoardError, match="sends back what it is sent"):
        Client(ScriptedStream(echo=True), timeout=0.02, attempts=3).hello()


def test_a_fault_report_is_passed_on() -> None:
    stream = ScriptedStream(b"\r\nkiln fault: HardFault pc=0x00001234\r\n")
    with pytest.raises(BoardError, match=r"a fault \(HardFault pc=0x00001234\)"):
        Client(stream, timeout=5).hello()


def test_work_without_end_is_limited() -> None:
    started = encode_frame(Packet(0, Code.RUN | 0x80, b"\1"))
    client = Client(ScriptedStream(started), timeout=0.02, attempts=2, patience=0.3)
    with pytest.raises(BoardError, match=r"began to work and has not finished after 0\.3 s"):
        client.run()


def test_tcp(c_tests: Path) -> None:
    with subprocess.Popen(
        [c_tests / "firmware", "--tcp", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            with connect_socket(f"socket://127.0.0.1:{port}") as stream:
                client = Client(stream)
                client.write_input(0, INPUT)
                client.run()
                assert client.read_output(0) == expected_output(100)
            assert process.wait(10) == 0  # it ends when the peer has gone
        finally:
            process.kill()


@pytest.mark.parametrize("arguments", [["--tcp"], ["--tcp", "x"], ["--tcp", "70000"], ["-h"]])
def test_wrong_arguments(c_tests: Path, arguments: list[str]) -> None:
    done = subprocess.run(
        [c_tests / "firmware", *arguments], capture_output=True, text=True, timeout=20
    )
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")


def test_tcp_port_in_use(c_tests: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [c_tests / "firmware", "--tcp", str(port)], capture_output=True, text=True, timeout=20
        )
    assert done.returncode == 1
    assert done.stderr.strip() == "kiln: bind: Address already in use"
