"""HTTP/2: requests that are no gRPC calls, which the same guards hold for as for those."""

import struct

from hyperframe.frame import DataFrame, RstStreamFrame, SettingsFrame, WindowUpdateFrame

from attacker import ENHANCE_YOUR_CALM, SERVICE, Attacker, frame, simple_request

FRAMES_MAX = 60_000
NO_WINDOW = {SettingsFrame.INITIAL_WINDOW_SIZE: 0}


def connect(attacker, stream, method="EmptyCall", body=b"", *, ends=True):
    """The frames of a unary call by Connect; without a body only its head."""
    request = attacker.http(
        stream, "POST", f"{SERVICE}/{method}", [("content-type", "application/proto")], ends=body is None and ends)
    return request if body is None else request + frame(DataFrame.type, 0x1 if ends else 0, stream, body)


def test_a_rapid_reset_of_exchanges(http_server):
    cancel = struct.pack(">I", 8)
    with Attacker(http_server.port) as attacker:
        sent = attacker.flood(
            lambda i: connect(attacker, 2 * i + 1, body=None, ends=False)
            + frame(RstStreamFrame.type, 0, 2 * i + 1, cancel), frames_max=FRAMES_MAX, batch=50)
        assert attacker.wait_for_end(), f"still there after {sent} frames"
        assert attacker.goaway()[0] == ENHANCE_YOUR_CALM


def test_making_the_server_refuse_exchanges(http_server):
    with Attacker(http_server.port) as attacker:
        # Each is answered 404, and costs its client no more than it is worth: it may go on, or be dismissed.
        sent = attacker.flood(
            lambda i: attacker.http(2 * i + 1, "GET", "/nothing-here"), frames_max=FRAMES_MAX // 10, batch=50)
        assert attacker.wait(lambda: attacker.ended or attacker.has_ended(2 * sent - 1))


def test_large_answers_without_a_window(http_server):
    calls = 100
    with Attacker(http_server.port, settings=NO_WINDOW) as attacker:
        streams = range(1, 2 * calls, 2)
        attacker.send(b"".join(connect(attacker, stream, "UnaryCall", simple_request(1 << 20)) for stream in streams))
        assert attacker.wait(lambda: sum(attacker.has_ended(stream) for stream in streams) == calls, 10)
        # Some held too much and were refused, the others waited too long and were reset.
        given_up = [stream for stream in streams if attacker.reset_code(stream) is not None]
        assert given_up
        assert not attacker.ended
        # The connection still serves who takes what it gets.
        attacker.send(connect(attacker, 2 * calls + 1)
                      + frame(WindowUpdateFrame.type, 0, 2 * calls + 1, struct.pack(">I", 1000)))
        assert attacker.wait(lambda: attacker.header(2 * calls + 1, ":status") == "200")


def test_bodies_that_do_not_end(http_server):
    with Attacker(http_server.port) as attacker:
        streams = range(1, 200, 2)
        attacker.send(b"".join(connect(attacker, stream, body=b"\x0a", ends=False) for stream in streams))
        assert attacker.wait(lambda: all(attacker.has_ended(stream) for stream in streams), 10)
        assert all(int(attacker.header(stream, ":status") or 499) >= 400 for stream in streams)
        assert not attacker.ended


def early(attacker, stream):
    """A request of a stream to a method that there is not, which is answered at once, and does not end."""
    return attacker.http(stream, "POST", "/nothing-here", [("content-type", "application/connect+proto")], ends=False)


def test_answered_requests_that_do_not_end(http_server):
    with Attacker(http_server.port) as attacker:
        # Each is answered at once, and goes on: as many as a connection may have take its own streams, and no places.
        streams = range(1, 512, 2)
        attacker.send(b"".join(early(attacker, stream) for stream in streams))
        assert attacker.wait(lambda: all(attacker.has_ended(stream) for stream in streams), 1.5)
        assert {attacker.header(stream, ":status") for stream in streams} == {"200"}
        assert all(attacker.reset_code(stream) is None for stream in streams)
        # What comes of them is dropped; too much of it, or too many pieces, and they are stopped.
        attacker.send(frame(DataFrame.type, 0x1, 1, b"the end"))
        attacker.flood(lambda i: frame(DataFrame.type, 0, 3, b"x"), frames_max=6000, batch=50)
        assert attacker.ended or attacker.wait(lambda: attacker.reset_code(3) == 0)
        if not attacker.ended:
            attacker.send(attacker.http(513, "GET", "/nothing-here"))
            assert attacker.wait(lambda: attacker.ended or attacker.header(513, ":status") == "404")
            assert attacker.reset_code(1) is None
            assert attacker.wait(lambda: all(attacker.reset_code(stream) == 0 for stream in streams[2:]), 5)


def test_a_flood_of_answered_requests(http_server):
    with Attacker(http_server.port) as attacker:
        # Requests that are answered before they end, and are ended by resets once they are.
        attacker.send(frame(WindowUpdateFrame.type, 0, 0, struct.pack(">I", 1 << 30)))
        for first in range(1, 20_000, 100):
            attacker.frames.clear()
            streams = range(first, first + 100, 2)
            attacker.send(b"".join(early(attacker, stream) for stream in streams))
            if not attacker.wait(lambda: attacker.has_ended(streams[-1])):
                break
            attacker.send(b"".join(frame(RstStreamFrame.type, 0, stream, struct.pack(">I", 8)) for stream in streams))
        # It may go on, or be dismissed: each costs no more than what it is worth.
        assert attacker.ended or attacker.has_ended(streams[-1])


def test_bodies_without_end(http_server):
    with Attacker(http_server.port) as attacker:
        attacker.send(connect(attacker, 1, body=None, ends=False))
        piece = b"x" * 16384
        for _ in range(2000):
            if attacker.has_ended(1) or attacker.ended:
                break
            attacker.send(frame(DataFrame.type, 0, 1, piece))
            attacker.wait(lambda: False, 0.001)  # lets the windows be opened
        assert attacker.wait(lambda: attacker.has_ended(1) or attacker.ended, 5)


def test_a_crowd_of_small_bodies(http_server):
    with Attacker(http_server.port) as attacker:
        # Bytes one by one cost more than they carry.
        attacker.send(connect(attacker, 1, body=None, ends=False))
        attacker.flood(lambda _: frame(DataFrame.type, 0, 1, b" "), frames_max=FRAMES_MAX)
        assert attacker.wait(lambda: attacker.ended or attacker.has_ended(1), 5)
