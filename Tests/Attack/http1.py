"""A client that speaks HTTP/1.1 by hand, rightly or wrongly."""

import contextlib
import select
import socket
import ssl
import time

SERVICE = "/grpc.testing.TestService"
PATIENCE_SECONDS = 15
# Far more than the buffers of two kernels hold.
FLOOD_BYTES_MAX = 64 << 20


def untrusting():
    """TLS that takes any certificate."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def head(method="EmptyCall", *fields, kind="json"):
    """The head of a unary call by Connect, without what tells its body's length."""
    lines = [f"POST {SERVICE}/{method} HTTP/1.1", "Host: localhost", f"Content-Type: application/{kind}", *fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def call(method="EmptyCall", body=b"{}", kind="json"):
    """A whole call by Connect."""
    return head(method, f"Content-Length: {len(body)}", kind=kind) + body


def chunk(data, extension=b""):
    """A chunk of a body."""
    return b"%x%s\r\n%s\r\n" % (len(data), extension, data)


class Client:
    """A connection. What came back is in `received`; `ended` once the server has closed."""

    def __init__(self, port, *, receive_buffer=None, context=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE_SECONDS)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context:
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        self.socket.setblocking(False)
        self.received = bytearray()
        self.ended = False
        self.sent_bytes = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data, seconds=PATIENCE_SECONDS, reads=True):
        """Sends all of it, unless the server closes or takes nothing for so long; whether it was sent."""
        data, end = memoryview(data), time.monotonic() + seconds
        while data and not self.ended:
            left = end - time.monotonic()
            if left <= 0:
                return False
            readable, writable, _ = select.select([self.socket] if reads else [], [self.socket], [], min(left, 1))
            if readable:
                self.read()
            if not writable or self.ended:
                continue
            try:
                count = self.socket.send(data)
            except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
                continue
            except OSError:
                self.read()
                self.ended = True
                return False
            data = data[count:]
            self.sent_bytes += count
            end = time.monotonic() + seconds
        return not data

    def read(self):
        """Takes in what has come."""
        while not self.ended:
            try:
                data = self.socket.recv(1 << 16)
            except (BlockingIOError, ssl.SSLWantReadError):
                return
            except OSError:
                data = b""
            self.received += data
            self.ended = not data

    def wait(self, condition, seconds=PATIENCE_SECONDS):
        """Reads until the condition holds, or for that long; whether it does."""
        end = time.monotonic() + seconds
        while not condition():
            left = end - time.monotonic()
            if left <= 0 or self.ended:
                return condition()
            select.select([self.socket], [], [], min(left, 0.2))
            self.read()
        return True

    def wait_for_end(self, seconds=PATIENCE_SECONDS):
        return self.wait(lambda: self.ended, seconds)

    @property
    def statuses(self):
        """Of all answers that have begun, in their order. Bodies of these tests hold no head."""
        return [int(part[:3]) for part in bytes(self.received).split(b"HTTP/1.1 ")[1:]]

    def flood(self, make, bytes_max=FLOOD_BYTES_MAX, reads=True):
        """Sends what `make()` gives, over and over, until the server closes, or takes no more, or so much was sent. The bytes
        that were sent."""
        begin = self.sent_bytes
        while self.sent_bytes - begin < bytes_max and not self.ended:
            if not self.send(make(), seconds=1, reads=reads):
                break
        return self.sent_bytes - begin


@contextlib.contextmanager
def many(port, count, **options):
    """So many connections."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(Client(port, **options)) for _ in range(count)]


def wait_for_all(clients, seconds):
    """How many are still there after so long."""
    end = time.monotonic() + seconds
    for client in clients:
        client.wait_for_end(max(0.01, end - time.monotonic()))
    return sum(not client.ended for client in clients)
