"""The memory that a connection takes: many of them, open and without calls, in clear text and over TLS."""

import contextlib
import os
import socket
import ssl
import time

from echo_bench import certificate
from processes import listening_port, resident_bytes, running
from report import Bar, Figure

CONNECTIONS = 2_000
BYTES_MAX = 10_000
SETTLE_SECONDS = 1
# The preface and an empty SETTINGS frame (RFC 9113 section 3.4).
GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
# SETTINGS with ACK, and PING: its answer shows that the connection is served.
ACKNOWLEDGEMENT = b"\0\0\0\4\1\0\0\0\0"
PING = b"\0\0\10\6\0\0\0\0\0" + b"anyone??"
PONG_HEAD = b"\0\0\10\6\1\0\0\0\0"


def _open(port, context):
    """A connection that was greeted and answered."""
    plain = socket.create_connection(("127.0.0.1", port), timeout=10)
    connection = plain if context is None else context.wrap_socket(plain, server_hostname="127.0.0.1")
    connection.sendall(GREETING + ACKNOWLEDGEMENT + PING)
    received = b""
    while PONG_HEAD not in received:
        piece = connection.recv(4096)
        if not piece:
            raise ConnectionError("the server closed a connection")
        received += piece
    return connection


def _bytes_each(options, scratch, name, arguments, context):
    log = os.path.join(scratch, f"connections-{name}.log")
    with running([f"{options.binaries}/bench-server", "echo", *arguments], log) as process, \
            contextlib.ExitStack() as stack:
        port = listening_port(process, log)
        # The first ones bring what is kept for all.
        for _ in range(50):
            stack.enter_context(_open(port, context))
        time.sleep(SETTLE_SECONDS)
        before = resident_bytes(process.pid)[0]
        for _ in range(CONNECTIONS):
            stack.enter_context(_open(port, context))
        time.sleep(SETTLE_SECONDS)
        return (resident_bytes(process.pid)[0] - before) / CONNECTIONS


def measure(options, scratch):
    """Gives the figures and the bar."""
    encrypted = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    encrypted.check_hostname = False
    encrypted.verify_mode = ssl.CERT_NONE
    encrypted.set_alpn_protocols(["h2"])
    plain = _bytes_each(options, scratch, "plain", [], None)
    secret = _bytes_each(options, scratch, "encrypted", certificate(scratch), encrypted)
    options.say(f"a connection: {plain / 1e3:.1f} kB, over TLS {secret / 1e3:.1f} kB")
    figures = [
        Figure("a connection", f"{plain / 1e3:.1f} kB resident", "", f"each of {CONNECTIONS:,}, without calls"),
        Figure("a connection over TLS 1.3", f"{secret / 1e3:.1f} kB resident", "", "the same"),
    ]
    bar = Bar("memory of a connection", f"{plain / 1e3:.1f} kB", f"at most {BYTES_MAX / 1e3:.0f} kB", plain <= BYTES_MAX)
    return figures, [bar]
