"""HTTP/1.1: clients that begin and don't go on, that never come to an end, that ask and don't take, and crowds of them."""

import contextlib
import resource
import ssl
import threading
import time

import pytest

from attacker import simple_request
from conftest import LIMIT_SECONDS, Memory
from http1 import FLOOD_BYTES_MAX, Client, call, chunk, head, many, untrusting, wait_for_all

LATE_SECONDS = 3.0
CROWD = 100
IDLE_CONNECTIONS = 1000
# What a connection that does nothing may take of the server's memory.
IDLE_BYTES_MAX = 16 << 10
# What two kernels hold of what was sent to a server that does not read, with what it reads before it stops.
BUFFERED_BYTES_MAX = 16 << 20


def trickle(clients, data, seconds):
    """Sends a byte at a time on each connection, over and over, for so long or until all have ended."""
    end, position = time.monotonic() + seconds, 0
    while time.monotonic() < end and not all(client.ended for client in clients):
        for client in clients:
            if not client.ended:
                client.send(data[position % len(data):][:1], seconds=0.1)
        position += 1
        time.sleep(0.1)


@pytest.mark.parametrize("beginning", [
    pytest.param(b"", id="nothing"),
    pytest.param(b"P", id="a letter"),
    pytest.param(head()[:-2], id="a head without its end"),
    pytest.param(b"\r\n\r\n", id="empty lines"),
])
def test_heads_that_only_begin(http_server, beginning):
    with many(http_server.port, CROWD) as clients:
        start = time.monotonic()
        for client in clients:
            client.send(beginning)
        left = wait_for_all(clients, LIMIT_SECONDS + LATE_SECONDS)
        assert time.monotonic() - start > LIMIT_SECONDS - 0.5 or beginning == b"\r\n\r\n"
        assert left == 0
        assert all(client.statuses in ([], [408]) or beginning == b"\r\n\r\n" for client in clients)


def test_slow_heads(http_server):
    start = time.monotonic()
    with many(http_server.port, CROWD) as clients:
        for client in clients:
            client.send(head()[:-2])
        trickle(clients, b"x-slow: y\r\n", LIMIT_SECONDS + LATE_SECONDS)
        assert time.monotonic() - start > LIMIT_SECONDS - 0.5
        assert wait_for_all(clients, 1) == 0
        assert all(client.statuses == [408] for client in clients)


@pytest.mark.parametrize("fields", [["Content-Length: 100000"], ["Transfer-Encoding: chunked"]], ids=["length", "chunked"])
def test_slow_bodies(http_server, fields):
    with many(http_server.port, CROWD) as clients:
        start = time.monotonic()
        for client in clients:
            client.send(head("EmptyCall", *fields) + (chunk(b"{") if "chunked" in fields[0] else b"{"))
        piece = chunk(b" ") if "chunked" in fields[0] else b" "
        trickle(clients, piece, LIMIT_SECONDS + LATE_SECONDS)
        assert time.monotonic() - start > LIMIT_SECONDS - 0.5
        assert wait_for_all(clients, 1) == 0
        assert all(status >= 400 for client in clients for status in client.statuses)


def test_bodies_that_do_not_come_although_asked_for(http_server):
    with many(http_server.port, CROWD) as clients:
        for client in clients:
            client.send(head("EmptyCall", "Content-Length: 10", "Expect: 100-continue"))
        assert wait_for_all(clients, LIMIT_SECONDS + LATE_SECONDS) == 0


@pytest.mark.parametrize("data", [b"x" * 65536, b"x"], ids=["large chunks", "chunks of a byte"])
def test_endless_chunks(http_server, data):
    with Client(http_server.port) as client:
        client.send(head("EmptyCall", "Transfer-Encoding: chunked"))
        piece = chunk(data) * max(1, 65536 // len(data))
        sent = client.flood(lambda: piece)
        assert client.wait_for_end(5), f"still there after {sent >> 20} MB"
        assert sent < FLOOD_BYTES_MAX // 2
        assert all(status >= 400 for status in client.statuses)


@pytest.mark.parametrize("beginning, piece", [
    pytest.param(b"1", b";name=value" * 100, id="an extension"),
    pytest.param(b"0\r\n", b"x-trailer: value\r\n" * 100, id="trailers"),
    pytest.param(b"", b"0" * 1000, id="a size"),
])
def test_what_stands_between_chunks_without_end(http_server, beginning, piece):
    with Client(http_server.port) as client:
        client.send(head("EmptyCall", "Transfer-Encoding: chunked") + beginning)
        client.flood(lambda: piece)
        assert client.wait_for_end(5)
        assert client.sent_bytes < BUFFERED_BYTES_MAX
        assert all(status == 400 for status in client.statuses)


@pytest.mark.parametrize("beginning, piece, status", [
    pytest.param(head()[:-2], b"x-line: value\r\n" * 100, 431, id="lines"),
    pytest.param(head()[:-2] + b"x-long: ", b"v" * 1000, 431, id="a value"),
    pytest.param(head()[:-2], b"n" * 1000, 431, id="a name"),
    pytest.param(b"GET /", b"p" * 1000, 414, id="a target"),
    pytest.param(b"", b"M" * 1000, 414, id="a method"),
])
def test_heads_without_end(http_server, beginning, piece, status):
    with Client(http_server.port) as client:
        client.send(beginning)
        client.flood(lambda: piece)
        assert client.wait_for_end(5)
        assert client.sent_bytes < BUFFERED_BYTES_MAX
        # Who goes on sending may lose the answer to the reset that it gets for it.
        assert client.statuses in ([status], [])


def test_pipelined_requests_whose_answers_nobody_reads(http_server):
    requests = call() * 500
    with Client(http_server.port, receive_buffer=4096) as client:
        sent = client.flood(lambda: requests, reads=False)
        assert sent < FLOOD_BYTES_MAX, "it reads on, and holds what it answers"
        assert client.wait(lambda: client.ended, LIMIT_SECONDS + LATE_SECONDS) or client.statuses


def test_pipelined_requests_without_end(http_server):
    requests, count = call() * 500, 40
    with Client(http_server.port) as client:
        start = time.monotonic()
        for _ in range(count):
            assert client.send(requests)
        assert client.wait(lambda: client.received.count(b"HTTP/1.1 200 ") == 500 * count, 30)
        print(f"{500 * count / (time.monotonic() - start):,.0f} a second")


def test_answers_that_nobody_reads(http_server):
    asked = call("UnaryCall", simple_request(4 << 20), kind="proto")
    with many(http_server.port, 6, receive_buffer=4096) as clients:
        for client in clients:
            client.send(asked, reads=False)
        time.sleep(LIMIT_SECONDS + LATE_SECONDS)
        for client in clients:
            client.wait_for_end(5)
        assert all(client.ended for client in clients)
        # What the kernels held still came; the rest is lost with the connection.
        assert sum(len(client.received) for client in clients) < 6 * (4 << 20)


def test_a_thousand_idle_connections(http_server):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], min(4096, limits[1])), limits[1]))
    memory = Memory(http_server.pid)
    memory.begin()
    with contextlib.ExitStack() as stack:
        clients = []
        # Each makes its first request at once: those that have not are only half as many, and make room for others.
        for _ in range(IDLE_CONNECTIONS):
            clients.append(stack.enter_context(Client(http_server.port)))
            clients[-1].send(call())
        for client in clients:
            assert client.wait(lambda client=client: client.statuses == [200])
        assert memory.growth() < IDLE_CONNECTIONS * IDLE_BYTES_MAX
        assert wait_for_all(clients, http_server.keep_alive_seconds + LATE_SECONDS) == 0


def test_connections_that_come_and_go(http_server):
    end, count = time.monotonic() + 2, 0
    while time.monotonic() < end:
        with Client(http_server.port) as client:
            if count % 2:
                client.send(call()[:40])
        count += 1
    print(f"{count / 2:,.0f} a second")


def test_handshakes_of_tls(start_http_server, authority, certificate, bystander_of):
    arguments = ["--certificate", certificate.certificate, "--key", certificate.key]
    with start_http_server(*arguments) as server:
        with bystander_of(server, authority.certificate) as bystander:
            hello = client_hello()
            is_over = threading.Event()

            def shake_hands():
                context = untrusting()
                while not is_over.is_set():
                    try:
                        Client(server.port, context=context).socket.close()
                    except OSError:
                        pass  # the server may find that there are too many

            threads = [threading.Thread(target=shake_hands) for _ in range(8)]
            for thread in threads:
                thread.start()
            begun = [Client(server.port) for _ in range(CROWD)]
            for client in begun:
                client.send(hello)
            left = wait_for_all(begun, LIMIT_SECONDS + LATE_SECONDS)
            is_over.set()
            for thread in threads:
                thread.join()
            for client in begun:
                client.socket.close()
            assert left == 0
            bystander.check()


def client_hello():
    """The first message of a handshake, which its sender never goes on with."""
    outgoing = ssl.MemoryBIO()
    try:
        untrusting().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost").do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def test_an_honest_request_after_all(http_server):
    with Client(http_server.port) as client:
        client.send(call() + call("UnaryCall", b'{"responseSize": 5}'))
        assert client.wait(lambda: len(client.statuses) == 2 and not client.received.endswith(b"\r\n\r\n"))
        assert client.statuses == [200, 200]
