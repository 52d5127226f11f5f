"""Frames that cost the server work and the sender nothing: the connection ends, and the client can read why."""

import struct

import pytest
from hyperframe.frame import (
    ContinuationFrame, DataFrame, HeadersFrame, PingFrame, PriorityFrame, RstStreamFrame, SettingsFrame,
    WindowUpdateFrame)

from attacker import ENHANCE_YOUR_CALM, Attacker, frame

PRIORITY_UPDATE = 0x10
UNKNOWN = 0xFA
PROTOCOL_ERROR = 1
# More than the credit of a connection pays for, whatever a frame costs.
CALLS_MAX = 3000
FRAMES_MAX = 60_000


def expect_dismissal(attacker, sent, reasons=("too_many_frames",)):
    assert attacker.wait_for_end(), f"still there after {sent} frames"
    code, reason = attacker.goaway() or (None, None)
    assert code == ENHANCE_YOUR_CALM
    assert reason in reasons


@pytest.mark.parametrize("kind, flags, stream, payload", [
    pytest.param(SettingsFrame.type, 0, 0, b"", id="empty SETTINGS"),
    pytest.param(SettingsFrame.type, 0, 0, struct.pack(">HI", 4, 70000), id="SETTINGS"),
    pytest.param(PingFrame.type, 1, 0, b"12345678", id="PING acknowledgements"),
    pytest.param(DataFrame.type, 0, 1, b"", id="empty DATA"),
    pytest.param(DataFrame.type, 0x8, 1, b"\0", id="padded DATA"),
    pytest.param(PriorityFrame.type, 0, 1, b"\0\0\0\0\x10", id="PRIORITY"),
    pytest.param(PRIORITY_UPDATE, 0, 0, b"\0\0\0\1u=1", id="PRIORITY_UPDATE"),
    pytest.param(WindowUpdateFrame.type, 0, 0, b"\0\0\0\1", id="WINDOW_UPDATE"),
    pytest.param(WindowUpdateFrame.type, 0, 1, b"\0\0\0\1", id="WINDOW_UPDATE of a stream"),
    pytest.param(WindowUpdateFrame.type, 0, 3, b"\0\0\0\1", id="WINDOW_UPDATE of a stream that has ended"),
    pytest.param(UNKNOWN, 0xFF, 0, b"nobody knows it", id="unknown"),
])
def test_a_flood_of_frames(server, kind, flags, stream, payload):
    with Attacker(server.port) as attacker:
        attacker.send(attacker.request(1) + attacker.request(3, body=b""))
        assert attacker.wait(lambda: attacker.has_ended(3))
        attack = frame(kind, flags, stream, payload)
        sent = attacker.flood(lambda _: attack, frames_max=FRAMES_MAX)
        # SETTINGS may be too many to answer in one turn before they are too many at all.
        expect_dismissal(attacker, sent, ("too_many_frames", "too_many_answers_wait"))


def test_a_flood_of_pings(server):
    with Attacker(server.port) as attacker:
        sent = attacker.flood(lambda _: frame(PingFrame.type, 0, 0, b"12345678"), frames_max=FRAMES_MAX)
        expect_dismissal(attacker, sent, ("too_many_pings",))


def test_a_rapid_reset(server):
    with Attacker(server.port) as attacker:
        cancel = struct.pack(">I", 8)
        sent = attacker.flood(
            lambda i: attacker.request(2 * i + 1) + frame(RstStreamFrame.type, 0, 2 * i + 1, cancel),
            frames_max=FRAMES_MAX, batch=50)
        expect_dismissal(attacker, sent)


@pytest.mark.parametrize("kind, flags, payload", [
    pytest.param(WindowUpdateFrame.type, 0, b"\x7f\xff\xff\xff", id="window over its maximum"),
    pytest.param(WindowUpdateFrame.type, 0, b"\0\0\0\0", id="window by zero"),
    pytest.param(HeadersFrame.type, 0x4, b"\x83", id="a head for trailers"),
    pytest.param(DataFrame.type, 0x1, b"", id="data after the end"),
])
def test_making_the_server_reset(server, kind, flags, payload):
    with Attacker(server.port) as attacker:
        def attack(i):
            stream = 2 * i + 1
            return attacker.request(stream, ends=kind == DataFrame.type, extra=[("x-test-delay-ms", "1000")]) + frame(
                kind, flags, stream, payload)

        sent = attacker.flood(attack, frames_max=FRAMES_MAX, batch=50)
        assert attacker.wait_for_end(), f"still there after {sent} frames"
        # What breaks the connection's own rules ends it as that.
        assert attacker.goaway()[0] in (ENHANCE_YOUR_CALM, PROTOCOL_ERROR, 5)


@pytest.mark.parametrize("method, timeout, flags, payload", [
    pytest.param("FullDuplexCall", None, 0, b"\2\0\0\0\0", id="a flag that no message has"),
    pytest.param("FullDuplexCall", None, 0, b"\0\xff\0\0\0", id="a message that is too large"),
    pytest.param("FullDuplexCall", None, 1, b"\0", id="a message that is cut"),
    pytest.param("FullDuplexCall", "1n", 0, b"", id="a deadline that has passed"),
    pytest.param("UnaryCall", "1n", 0, b"", id="a deadline that has passed, of a unary call"),
])
def test_making_the_server_end_calls(server, method, timeout, flags, payload):
    extra = [("grpc-timeout", timeout)] if timeout else []
    with Attacker(server.port) as attacker:
        stream = 1
        # Never more at once than the client may have, so that nothing but the ends of its calls is held against it.
        while not attacker.ended and stream < 2 * CALLS_MAX:
            calls = b""
            for stream in range(stream, stream + 100, 2):
                calls += attacker.request(stream, method, extra=extra)
                calls += frame(DataFrame.type, flags, stream, payload) if payload else b""
            attacker.send(calls)
            attacker.wait(lambda: attacker.has_ended(stream))
            stream += 2
        expect_dismissal(attacker, stream // 2)


# At once: the answers that are owed before the GOAWAY are more than one buffer holds.
@pytest.mark.parametrize("batch", [50, 12_000])
def test_heads_that_are_none(server, batch):
    with Attacker(server.port) as attacker:
        sent = attacker.flood(lambda i: frame(HeadersFrame.type, 0x5, 2 * i + 1), frames_max=FRAMES_MAX, batch=batch)
        assert attacker.wait_for_end(), f"still there after {sent} frames"
        # Those that come in one turn may first be more streams than are allowed.
        assert attacker.goaway()[0] in (ENHANCE_YOUR_CALM, PROTOCOL_ERROR)


@pytest.mark.parametrize("length", [0, 1, 16384])
def test_a_flood_of_continuation(server, length):
    with Attacker(server.port) as attacker:
        attacker.send(frame(HeadersFrame.type, 0, 1, b"\x83"))
        # An entry that is not indexed, cut off by the end of each frame.
        payload = b"\0\x01x\x7f" + b"v" * (length - 4) if length > 4 else b"\x83"[:length]
        sent = attacker.flood(
            lambda _: frame(ContinuationFrame.type, 0, 1, payload), frames_max=2000, batch=1)
        assert attacker.wait_for_end(), f"still there after {sent} frames"
        # What the buffers of two kernels hold, of the 32 MB that were to be sent.
        assert attacker.sent_bytes < 12 << 20
        assert attacker.goaway() is not None


@pytest.mark.parametrize("kind, payload", [
    pytest.param(SettingsFrame.type, b"", id="SETTINGS"), pytest.param(PingFrame.type, b"12345678", id="PING")])
def test_frames_that_want_an_answer_that_nobody_reads(server, kind, payload):
    with Attacker(server.port, receive_buffer=4096) as attacker:
        sent = attacker.flood_without_reading(frame(kind, 0, 0, payload) * 1000, bytes_max=64 << 20)
        assert sent < 64 << 20
        assert attacker.wait_for_end()


def test_a_header_bomb(server):
    with Attacker(server.port) as attacker:
        # An entry of 4,000 bytes goes into the table and is then named in a byte each (RFC 7541 section 7.3).
        bomb = b"\x40\x01x\x7f" + bytes([0x80 | (3900 - 127) & 127, (3900 - 127) >> 7]) + b"v" * 3900
        first = attacker.request_block("UnaryCall") + bomb + b"\xbe" * 12_000
        attacker.send(frame(HeadersFrame.type, 0x4, 1, first))
        sent = attacker.flood(
            lambda i: frame(HeadersFrame.type, 0x4, 2 * i + 3, b"\xbe" * 16_000), frames_max=2000, batch=1)
        expect_dismissal(attacker, sent)
