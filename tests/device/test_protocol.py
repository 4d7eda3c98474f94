"""Frames and messages: what goes in comes out, and damage never does."""

from __future__ import annotations

import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.device.protocol import (
    STATUS_TEXTS,
    FrameReader,
    Packet,
    decode_hello,
    decode_packet,
    decode_tensor,
    decode_ticks,
    encode_frame,
    status_text,
)

packets = st.builds(
    Packet, st.integers(0, 255), st.integers(0, 255), st.binary(min_size=0, max_size=600)
)


@given(st.lists(packets, max_size=5), st.integers(1, 50))
def test_packets_survive_any_cut_of_the_stream(sent: list[Packet], piece: int) -> None:
    wire = b"".join(encode_frame(packet) for packet in sent)
    reader = FrameReader()
    received: list[Packet] = []
    for at in range(0, len(wire), piece):
        received += reader.feed(wire[at : at + piece])
    assert received == sent
    assert reader.text == b""


def test_a_frame_is_as_specified() -> None:
    # "123456789" has the CRC-32 0xCBF43926: the check value of zlib's polynomial.
    packet = Packet(ord("1"), ord("2"), b"3456789")
    assert encode_frame(packet) == b"\0\x0e123456789\x26\x39\xf4\xcb\0"


def test_zeros_are_stuffed() -> None:
    assert 0 not in encode_frame(Packet(0, 0, bytes(700)))[1:-1]


def test_every_flipped_bit_is_found() -> None:
    stuffed = encode_frame(Packet(7, 3, bytes(range(60))))[1:-1]
    for at in range(len(stuffed)):
        for bit in range(8):
            damaged = bytearray(stuffed)
            damaged[at] ^= 1 << bit
            assert decode_packet(bytes(damaged)) is None


def test_garbage_is_no_packet_and_becomes_text() -> None:
    reader = FrameReader()
    rng = random.Random(0)
    assert reader.feed(b"hello board\r\n") == []
    assert reader.text == b"hello board\r\n"
    for _ in range(50):
        assert reader.feed(rng.randbytes(200)) == []
    assert len(reader.text) <= FrameReader.TEXT_BYTES


def test_text_before_a_frame_does_not_hurt_it() -> None:
    packet = Packet(1, 0x81, b"\0abc")
    assert FrameReader().feed(b"m-ready\r\n" + encode_frame(packet)) == [packet]


def test_statuses_have_words() -> None:
    assert set(STATUS_TEXTS) == {*range(-10, 0), *range(-36, -31)}
    assert "unknown status -99" in status_text(-99)


def test_answers_too_short_are_refused() -> None:
    for decode in (decode_hello, decode_tensor, decode_ticks):
        with pytest.raises(ValueError):
            decode(b"\1\0\0")
    with pytest.raises(ValueError):
        decode_tensor(struct.pack("<BBIfi", 2, 3, 1, 0.0, 0) + bytes(8))
    with pytest.raises(ValueError):
        decode_ticks(bytes(10))


def test_ticks() -> None:
    assert decode_ticks(struct.pack("<QII", 1 << 40, 3, 4)) == (1 << 40, (3, 4))
