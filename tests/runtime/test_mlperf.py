"""The commands of MLPerf Tiny's runner, on the same line as the frames."""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path

import pytest

from compiler.device.protocol import Code, Packet, encode_frame


@pytest.fixture
def talk(c_tests: Path):
    """What the firmware prints after its banner."""

    def send(commands: bytes) -> list[str]:
        done = subprocess.run(
            [c_tests / "firmware"], input=commands, capture_output=True, timeout=20
        )
        assert done.returncode == 0, done.stderr.decode()
        lines = done.stdout.decode(errors="replace").split("\r\n")
        assert lines[0] == "m-timestamp-mode-performance"
        assert re.fullmatch(r"m-lap-us-\d+", lines[1])
        assert lines[2:4] == ["m-init-done", "m-ready"]
        return lines[4:]

    return send


def test_who_is_there(talk) -> None:
    assert talk(b"name%profile%\r\n") == [
        "m-name-dut-[Kiln]", "m-ready",
        "m-profile-[ULPMark for tinyML Firmware V0.0.1]", "m-model-[kws01]", "m-ready", "",
    ]  # fmt: skip


def test_timestamp_counts_up(talk) -> None:
    laps = [int(line[9:]) for line in talk(b"timestamp%timestamp%") if line.startswith("m-lap-us-")]
    assert len(laps) == 2 and 0 < laps[0] <= laps[1]


def test_an_inference(talk) -> None:
    """The fake model's input is int8, so its bytes come as they are."""
    data = bytes(range(16)).hex().encode()
    lines = talk(b"db load 16%db " + data[:8] + b"%db " + data[8:] + b"%infer 3 2%results%")
    laps = [line for line in lines if line.startswith("m-lap-us-")]
    assert len(laps) == 2
    # Output i is 4 i + state; the state begins at 100 and this is the fifth run.
    results = "m-results-[" + ",".join(f"{4 * i + 104}.000" for i in range(16)) + "]"
    assert [line for line in lines if line not in laps] == [
        "m-[Expecting 16 bytes]", "m-ready", "m-ready", "m-load-done", "m-ready",
        "m-warmup-start-2", "m-warmup-done", "m-infer-start-3", "m-infer-done", results, "m-ready",
        results, "m-ready", "",
    ]  # fmt: skip


def test_floats_for_an_int8_model_are_quantized(talk) -> None:
    """Scale 0.5, zero point -3: q = 2 x - 3, limited to -128..127."""
    values = [0.0, 1.0, -1.0, 0.25, 0.75, 1000.0, -1000.0] + [0.0] * 9
    data = struct.pack("<16f", *values).hex().encode()
    lines = talk(b"db load 64%db " + data[:62] + b"%db " + data[62:] + b"%infer 1 0%")
    found = next(line for line in lines if line.startswith("m-results-"))
    results = [float(value) for value in found[11:-1].split(",")]
    quantized = [-3, -1, -5, -3, -1, 127, -128] + [-3] * 9  # ties to even
    wrapped = [(q + 3 * i + 128) % 256 - 128 for i, q in enumerate(quantized)]
    assert results == [value + 100.0 for value in wrapped]


@pytest.mark.parametrize(
    ("commands", "error"),
    [
        (b"nonsense%", "e-[unknown command]"),
        (b"names%", "e-[unknown command]"),
        (b"db load 17%", "e-[the input of this model has another size]"),
        (b"db load 99999999999999999999%", "e-[the input of this model has another size]"),
        (b"db 00%", "e-[db load first]"),
        (b"infer 1 1%", "e-[db load first, then infer RUNS WARMUP]"),
        (b"db load 16%infer 1 1%", "e-[db load first, then infer RUNS WARMUP]"),
        (b"db load 16%db 0g%", "e-[not hexadecimal]"),
        (b"db load 16%db 0%", "e-[not hexadecimal]"),
    ],
)
def test_errors(talk, commands: bytes, error: str) -> None:
    lines = talk(commands)
    assert error in lines
    assert lines[-2:] == ["m-ready", ""]


def test_frames_and_commands_take_turns(talk) -> None:
    hello = encode_frame(Packet(5, Code.HELLO, b""))
    lines = talk(hello + b"name%" + hello + b"name%")
    assert sum("m-name-dut-[Kiln]" in line for line in lines) == 2
    assert sum(line.count("fake\x00") + line.count("fake") for line in lines) >= 2
