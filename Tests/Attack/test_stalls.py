"""Clients that begin and don't go on, or ask and don't take: bounded in time and in memory."""

import socket
import ssl
import struct
import time

import pytest
from hyperframe.frame import ContinuationFrame, DataFrame, HeadersFrame, SettingsFrame, WindowUpdateFrame

from attacker import PREFACE, Attacker, frame, grpc_message, simple_request

NO_WINDOW = {SettingsFrame.INITIAL_WINDOW_SIZE: 0}
WIDE_WINDOW = {SettingsFrame.INITIAL_WINDOW_SIZE: (1 << 31) - 1}
LIMIT_SECONDS = 2.0  # of the server, see conftest.py
HELD_BYTES_MAX = 24 << 20  # of a connection, see crpc_limits_default
LATE_SECONDS = 3.0


def wait_for_all(attackers, seconds):
    end = time.monotonic() + seconds
    for attacker in attackers:
        attacker.wait_for_end(max(0.01, end - time.monotonic()))
    return sum(not attacker.ended for attacker in attackers)


@pytest.mark.parametrize("beginning", [
    pytest.param(b"", id="nothing"),
    pytest.param(PREFACE[:10], id="half a preface"),
    pytest.param(PREFACE, id="a preface without SETTINGS"),
    pytest.param(PREFACE + b"\0\0", id="half a head"),
    pytest.param(PREFACE + frame(SettingsFrame.type) + frame(HeadersFrame.type, 0, 1, b"\x83"), id="half a block"),
    pytest.param(
        PREFACE + frame(SettingsFrame.type) + frame(HeadersFrame.type, 0x4, 1, b"\x83" * 50)[:30], id="half a frame"),
])
def test_connections_that_only_begin(server, beginning):
    attackers = [Attacker(server.port, preface=False) for _ in range(100)]
    start = time.monotonic()
    for attacker in attackers:
        attacker.send(beginning)
    left = wait_for_all(attackers, LIMIT_SECONDS + LATE_SECONDS)
    assert time.monotonic() - start > LIMIT_SECONDS - 0.5
    for attacker in attackers:
        attacker.socket.close()
    assert left == 0


def test_handshakes_that_only_begin(start_server, certificate):
    with start_server("--certificate", certificate.certificate, "--key", certificate.key) as server:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        outgoing = ssl.MemoryBIO()
        try:
            context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost").do_handshake()
        except ssl.SSLWantReadError:
            pass
        hello = outgoing.read()
        attackers = [Attacker(server.port, preface=False) for _ in range(100)]
        start = time.monotonic()
        for number, attacker in enumerate(attackers):
            attacker.send(hello if number % 2 else hello[:40])
        # Meanwhile others are served.
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as plain:
            with context.wrap_socket(plain, server_hostname="localhost") as honest:
                assert honest.selected_alpn_protocol() == "h2"
                assert time.monotonic() - start < LIMIT_SECONDS * 0.9
                left = wait_for_all(attackers, LIMIT_SECONDS + LATE_SECONDS)
        assert time.monotonic() - start > LIMIT_SECONDS - 0.5
        for attacker in attackers:
            attacker.socket.close()
        assert left == 0


def test_answers_without_a_window(server):
    calls = 100
    with Attacker(server.port, settings=NO_WINDOW) as attacker:
        streams = range(1, 2 * calls, 2)
        attacker.send(b"".join(attacker.request(stream, body=simple_request(1 << 20)) for stream in streams))
        assert attacker.wait(lambda: sum(attacker.has_ended(stream) for stream in streams) == calls, 10)
        refused = [stream for stream in streams if attacker.header(stream, "grpc-status") == "8"]
        given_up = [stream for stream in streams if attacker.reset_code(stream) == 8]
        assert len(refused) + len(given_up) == calls
        assert len(refused) > calls // 2 and len(given_up) > 5
        assert not attacker.ended
        # The connection still serves who takes what it gets.
        attacker.send(attacker.request(2 * calls + 1, body=simple_request(10))
                      + frame(WindowUpdateFrame.type, 0, 2 * calls + 1, struct.pack(">I", 1000)))
        assert attacker.wait(lambda: attacker.header(2 * calls + 1, "grpc-status") == "0")


@pytest.mark.parametrize("bytes_per_second", [0, 400])
def test_a_client_that_hardly_reads(server, bytes_per_second):
    with Attacker(server.port, settings=WIDE_WINDOW, receive_buffer=4096) as attacker:
        attacker.send(frame(WindowUpdateFrame.type, 0, 0, struct.pack(">I", 1 << 30)))
        attacker.send(b"".join(attacker.request(stream, body=simple_request(4 << 20)) for stream in (1, 3, 5, 7)))
        start = time.monotonic()
        taken = 0
        while time.monotonic() - start < LIMIT_SECONDS + 2.5:
            time.sleep(0.1)
            try:
                taken += len(attacker.socket.recv(bytes_per_second // 10 or 1)) if bytes_per_second else 0
            except BlockingIOError:
                pass
            except OSError:
                break
        # What the kernels hold still comes; the rest of 16 MB is lost with the connection.
        while not attacker.ended and time.monotonic() - start < 20:
            try:
                data = attacker.socket.recv(1 << 20)
            except BlockingIOError:
                time.sleep(0.01)
                continue
            except OSError:
                data = b""
            taken += len(data)
            attacker.ended = not data
        assert attacker.ended
        assert taken < 14 << 20


def test_messages_that_do_not_end(server):
    with Attacker(server.port) as attacker:
        attacker.send(attacker.request(1) + frame(DataFrame.type, 0, 1, b"\0\0\0\x03\xe8"))
        start = time.monotonic()
        while not attacker.has_ended(1) and time.monotonic() - start < LIMIT_SECONDS + LATE_SECONDS:
            attacker.send(frame(DataFrame.type, 0, 1, b"x"))
            attacker.wait(lambda: attacker.has_ended(1), 0.1)
        assert time.monotonic() - start > LIMIT_SECONDS - 0.5
        assert attacker.header(1, "grpc-status") == "4"
        assert not attacker.ended


def test_many_messages_that_do_not_end(server):
    calls = 60
    with Attacker(server.port) as attacker:
        part = (struct.pack(">BI", 0, 3 << 20) + b"x" * (1 << 20))[:1 << 20]
        pieces = [part[at:at + 16384] for at in range(0, len(part), 16384)]
        start, early = time.monotonic(), 0
        for stream in range(1, 2 * calls, 2):
            attacker.send(attacker.request(stream))
            for piece in pieces:
                if attacker.has_ended(stream):
                    break
                attacker.send(frame(DataFrame.type, 0, stream, piece))
                attacker.wait(lambda: False, 0.001)  # lets the window be opened
                early += len(piece) if time.monotonic() - start < LIMIT_SECONDS else 0
        assert attacker.wait(lambda: all(attacker.has_ended(s) for s in range(1, 2 * calls, 2)), 8)
        statuses = [attacker.header(stream, "grpc-status") for stream in range(1, 2 * calls, 2)]
        assert set(statuses) <= {"4", "8"}
        # Unless a busy machine sends less before the limit of time than a connection may make the server hold.
        assert statuses.count("8") > 0 or early < HELD_BYTES_MAX, f"{early} bytes within the limit of time"


def test_continuation_one_by_one(server):
    with Attacker(server.port) as attacker:
        attacker.send(frame(HeadersFrame.type, 0, 1, b"\x83"))
        start = time.monotonic()
        for _ in range(6):
            attacker.send(frame(ContinuationFrame.type, 0, 1, b""))
            if attacker.wait_for_end(0.5):
                break
        assert attacker.wait_for_end(LATE_SECONDS)
        assert time.monotonic() - start < LIMIT_SECONDS + LATE_SECONDS


def test_an_honest_call_after_all(server):
    with Attacker(server.port) as client:
        client.send(client.request(1, body=simple_request(5)))
        assert client.wait(lambda: client.header(1, "grpc-status") == "0")
        assert client.data_bytes(1) > len(grpc_message(b"")) + 5
