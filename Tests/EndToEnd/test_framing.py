"""Requests that are not HTTP/1.1, or are ambiguous: they are refused as client errors, never counted as server errors, and
the connection is closed before the bytes behind them are used."""

import concurrent.futures
import contextlib
import json
import socket

import pytest

SECONDS = 10
HOST = b"Host: x\r\n"
POST = b"POST /auth/refresh HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
# If this is answered, the request before it ended where an attacker wanted.
SECOND = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
BODY = b'{"refresh_token": "x"}'

REFUSED = {
    # HTTP/1.1 needs one Host (RFC 9112 section 3.2), with a valid host.
    "no host": (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
    "no host, other fields": (b"GET /healthz HTTP/1.1\r\nAccept: */*\r\n\r\n", 400),
    "two hosts": (b"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
    "two equal hosts": (b"GET /healthz HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n", 400),
    "two hosts in HTTP/1.0": (b"GET /healthz HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n", 400),
    "host with a space": (b"GET /healthz HTTP/1.1\r\nHost: x y\r\n\r\n", 400),
    "host with a path": (b"GET /healthz HTTP/1.1\r\nHost: x/y\r\n\r\n", 400),
    "host with a user": (b"GET /healthz HTTP/1.1\r\nHost: a@x\r\n\r\n", 400),
    "two hosts in one field": (b"GET /healthz HTTP/1.1\r\nHost: x, y\r\n\r\n", 400),
    # Chunks.
    "chunk size that is no number": (CHUNKED + b"xyz\r\n{}\r\n0\r\n\r\n", 400),
    "negative chunk size": (CHUNKED + b"-2\r\n{}\r\n0\r\n\r\n", 400),
    "chunk size in 0x": (CHUNKED + b"0x2\r\n{}\r\n0\r\n\r\n", 400),
    "chunk size of 2^64": (CHUNKED + b"10000000000000000\r\n{}\r\n0\r\n\r\n", 400),
    "empty chunk size": (CHUNKED + b"\r\n{}\r\n0\r\n\r\n", 400),
    "chunk longer than it says": (CHUNKED + b"1\r\n{}\r\n0\r\n\r\n", 400),
    "garbage after a chunk": (CHUNKED + b"2\r\n{}garbage\r\n0\r\n\r\n", 400),
    "chunk size ended by LF": (CHUNKED + b"2\n{}\r\n0\r\n\r\n", 400),
    # Two lengths for one body (RFC 9112 section 6.3).
    "both lengths": (POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "both lengths, other order": (POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400),
    "two content lengths": (POST + b"Content-Length: 2\r\nContent-Length: 22\r\n\r\n" + BODY, 400),
    "two equal content lengths": (POST + b"Content-Length: 22\r\nContent-Length: 22\r\n\r\n" + BODY, 400),
    "content length list": (POST + b"Content-Length: 22, 22\r\n\r\n" + BODY, 400),
    "signed content length": (POST + b"Content-Length: +22\r\n\r\n" + BODY, 400),
    "negative content length": (POST + b"Content-Length: -1\r\n\r\n", 400),
    "content length in 0x": (POST + b"Content-Length: 0x16\r\n\r\n" + BODY, 400),
    "empty content length": (POST + b"Content-Length: \r\n\r\n" + BODY, 400),
    "content length of 2^64": (POST + b"Content-Length: 18446744073709551616\r\n\r\n" + BODY, 400),
    # Transfer codings (RFC 9112 section 6.1).
    "xchunked": (POST + b"Transfer-Encoding: xchunked\r\n\r\n" + BODY, 400),
    "identity": (POST + b"Transfer-Encoding: identity\r\n\r\n" + BODY, 400),
    "chunked is not last": (POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n" + BODY, 400),
    "gzip, chunked": (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    "gzip, chunked in two fields": (
        POST + b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501),
    "chunked twice": (POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 400),
    "quoted chunked": (POST + b'Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n', 400),
    "empty transfer encoding": (POST + b"Transfer-Encoding: \r\n\r\n" + BODY, 400),
    "chunked in HTTP/1.0": (CHUNKED.replace(b"HTTP/1.1", b"HTTP/1.0") + b"0\r\n\r\n", 400),
    "xchunked where no body is read": (
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: xchunked\r\n\r\n", 400),
    # Heads.
    "space before the colon": (b"GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n", 400),
    "folded field": (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Folded: a\r\n b\r\n\r\n", 400),
    "field without a colon": (b"GET /healthz HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n", 400),
    "zero byte in a field": (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Zero: a\0b\r\n\r\n", 400),
    "CR in a field": (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-CR: a\rb\r\n\r\n", 400),
    "unknown version": (b"GET /healthz HTTP/1.9\r\n" + HOST + b"\r\n", 400),
    "version 2.0": (b"GET /healthz HTTP/2.0\r\n" + HOST + b"\r\n", 400),
    "space in the target": (b"GET /health z HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    "too many fields": (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-Y: z\r\n" * 500 + b"\r\n", 431),
    "a field too long": (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-Long: " + b"x" * 40_000 + b"\r\n\r\n", 431),
}
ACCEPTED = {
    "unknown method": (b"BREW /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n", 501),
    "HTTP/1.0 without a host": (b"GET /healthz HTTP/1.0\r\n\r\n", 200),
    "empty host": (b"GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", 200),
    "IPv6 host": (b"GET /healthz HTTP/1.1\r\nHost: [::1]:8080\r\nConnection: close\r\n\r\n", 200),
    "absolute target": (b"GET http://x/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200),
    "chunked in capitals": (POST + b"Transfer-Encoding: Chunked\r\nConnection: close\r\n\r\n16\r\n" + BODY
                            + b"\r\n0\r\n\r\n", 401),
    "chunk extension": (POST + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n16;a=b\r\n" + BODY
                        + b"\r\n0\r\n\r\n", 401),
    "trailers": (POST + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n16\r\n" + BODY
                 + b"\r\n0\r\nX-Trailer: a\r\n\r\n", 401),
    # RFC 9112 section 7.4: a TE that requests nothing from us.
    "TE": (b"GET /healthz HTTP/1.1\r\nHost: x\r\nTE: xchunked\r\nConnection: close\r\n\r\n", 200),
}


def everything(stack, request):
    """All bytes that arrive until the server closes."""
    host, port = stack.addresses["gateway"].rsplit(":", 1)
    received = b""
    with socket.create_connection((host, int(port)), timeout=SECONDS) as connection:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(request)
        with contextlib.suppress(ConnectionResetError):
            while chunk := connection.recv(65536):
                received += chunk
    return received


def answers(received):
    """Status, fields and body of each answer."""
    found = []
    while received:
        head, _, rest = received.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        fields = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines[1:])}
        length = int(fields.get("content-length", 0))
        found.append((int(lines[0].split(" ")[1]), fields, rest[:length]))
        received = rest[length:]
    return found


@pytest.mark.parametrize("name", REFUSED)
def test_refused(stack, name):
    request, expected = REFUSED[name]
    ((status, fields, body),) = answers(everything(stack, request + SECOND))
    assert status == expected
    assert fields["content-type"] == "application/problem+json" and fields["connection"] == "close"
    problem = json.loads(body)
    assert problem["status"] == status and problem["code"].isupper() and problem["detail"].endswith(".")
    assert fields["x-request-id"] and fields["x-content-type-options"] == "nosniff"
    assert fields["cache-control"] == "no-store"


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(stack, name):
    request, expected = ACCEPTED[name]
    ((status, _, _),) = answers(everything(stack, request))
    assert status == expected


def test_a_body_that_ends_too_soon(stack):
    """A client that disconnects within a body: an answer, if any, is read by nobody."""
    host, port = stack.addresses["gateway"].rsplit(":", 1)
    for head in (POST + b"Content-Length: 22\r\n\r\n{", CHUNKED + b"16\r\n{"):
        for how in (socket.SHUT_WR, None):
            with socket.create_connection((host, int(port)), timeout=SECONDS) as connection:
                connection.sendall(head)
                if how is None:
                    # A reset instead of an end.
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                else:
                    connection.shutdown(how)
                    with contextlib.suppress(ConnectionResetError):
                        assert connection.recv(65536)[:12] in (b"", b"HTTP/1.1 400")
    stack.client().get("/healthz").expect(200)


def test_malformed_bytes_are_not_server_errors(stack):
    """Alerts depend on the server's own errors, not on what strangers send."""
    def errors():
        text = (stack.folder / "logs/gateway.log").read_text()
        return [line for line in text.splitlines() if " error " in line.lower() or '"level":"error"' in line]

    before = errors()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        received = list(pool.map(lambda refused: everything(stack, refused[0]), REFUSED.values()))
    assert all(received)
    test_a_body_that_ends_too_soon(stack)
    assert errors() == before


def test_a_client_cannot_set_the_guards_mark(stack):
    answer = stack.client().get("/healthz", headers={"Vestibule-Framing-Fault": "HOST_COUNT"})
    answer.expect(200)


def test_requests_before_a_refused_one_are_answered_first(stack):
    good = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    received = answers(everything(stack, good + good + b"GET /healthz HTTP/1.1\r\n\r\n" + good))
    assert [status for status, _, _ in received] == [200, 200, 400]
