"""A client that speaks HTTP/2 by hand, rightly or wrongly."""

import select
import socket
import struct
import time

import hpack
from hyperframe.frame import DataFrame, Frame, GoAwayFrame, HeadersFrame, RstStreamFrame, SettingsFrame

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SERVICE = "/grpc.testing.TestService"
ENHANCE_YOUR_CALM = 11
PATIENCE_SECONDS = 15


def frame(kind, flags=0, stream=0, payload=b""):
    """A frame of any kind, as bytes."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def grpc_message(body):
    return struct.pack(">BI", 0, len(body)) + body


def simple_request(response_bytes=0):
    """A grpc.testing.SimpleRequest that asks for an answer of that size (field 2)."""
    value, number = b"", response_bytes
    while True:
        value += bytes([number & 127 | (128 if number > 127 else 0)])
        number >>= 7
        if not number:
            return b"\x10" + value


class Attacker:
    """A connection. What comes back is in `frames`; `ended` once the server has closed."""

    def __init__(self, port, *, preface=True, settings=None, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE_SECONDS)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self._encoder = hpack.Encoder()
        self._decoder = hpack.Decoder()
        self._received = b""
        self._outgoing = bytearray()
        self._acknowledges = preface
        self.frames = []
        self.headers = {}  # by stream: the fields of all its blocks
        self.ended = False
        self.sent_bytes = 0
        if preface:
            self.send(PREFACE + SettingsFrame(0, settings=settings or {}).serialize())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    # Sending

    def send(self, data):
        """Sends all of it, unless the server closes before that; takes in what comes meanwhile."""
        is_sending = bool(self._outgoing)
        self._outgoing += data
        if is_sending:
            return  # from inside `read` below: it goes after what is being sent
        end = time.monotonic() + PATIENCE_SECONDS
        while self._outgoing and not self.ended and time.monotonic() < end:
            readable, writable, _ = select.select([self.socket], [self.socket], [], 1)
            if readable:
                self.read()
            if writable and not self.ended:
                self._send_some()
        self._outgoing.clear()

    def _send_some(self):
        try:
            count = self.socket.send(self._outgoing)
        except BlockingIOError:
            return
        except OSError:
            self.read()  # why it closed may still be there
            self.ended = True
            return
        del self._outgoing[:count]
        self.sent_bytes += count

    def request_block(self, method, extra=()):
        return self._encoder.encode([
            (":method", "POST"), (":scheme", "http"), (":path", f"{SERVICE}/{method}"), (":authority", "attack"),
            ("te", "trailers"), ("content-type", "application/grpc"), *extra])

    def request(self, stream, method="UnaryCall", body=None, *, ends=None, extra=()):
        """The frames of a request; without a body only its head."""
        flags = 0x4 | (0x1 if ends and body is None else 0)
        head = frame(HeadersFrame.type, flags, stream, self.request_block(method, extra))
        if body is None:
            return head
        return head + frame(DataFrame.type, 0 if ends is False else 0x1, stream, grpc_message(body))

    def http(self, stream, method, path, extra=(), *, ends=True):
        """A request that is not gRPC's; a body follows unless it ends."""
        block = self._encoder.encode([
            (":method", method), (":scheme", "http"), (":path", path), (":authority", "attack"), *extra])
        return frame(HeadersFrame.type, 0x5 if ends else 0x4, stream, block)

    # Receiving

    def read(self):
        """Takes in what has come."""
        while not self.ended:
            try:
                data = self.socket.recv(1 << 16)
            except BlockingIOError:
                break
            except OSError:
                self.ended = True
                break
            if not data:
                self.ended = True
                break
            self._received += data
        while len(self._received) >= 9:
            head, length = Frame.parse_frame_header(memoryview(self._received[:9]))
            if len(self._received) < 9 + length:
                break
            head.parse_body(memoryview(self._received[9:9 + length]))
            self._received = self._received[9 + length:]
            self._take(head)

    def _take(self, found):
        self.frames.append(found)
        if isinstance(found, HeadersFrame):
            self.headers.setdefault(found.stream_id, []).extend(self._decoder.decode(found.data))
        if isinstance(found, SettingsFrame) and "ACK" not in found.flags and self._acknowledges:
            self.send(frame(SettingsFrame.type, 0x1))

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

    def goaway(self):
        """The error code and text of the last GOAWAY, or None."""
        for found in reversed(self.frames):
            if isinstance(found, GoAwayFrame):
                return found.error_code, bytes(found.additional_data).decode()
        return None

    def header(self, stream, name):
        """The last value of a header or trailer of a stream, or None."""
        return next((value for key, value in reversed(self.headers.get(stream, [])) if key == name), None)

    def has_ended(self, stream):
        """Whether the server has ended a stream."""
        return any(
            found.stream_id == stream and (isinstance(found, RstStreamFrame) or "END_STREAM" in found.flags)
            for found in self.frames)

    def reset_code(self, stream):
        return next(
            (found.error_code for found in self.frames
             if isinstance(found, RstStreamFrame) and found.stream_id == stream), None)

    def data_bytes(self, stream):
        return sum(
            len(found.data) for found in self.frames if isinstance(found, DataFrame) and found.stream_id == stream)

    # Floods

    def flood(self, make, *, frames_max, batch=200):
        """Sends what `make(number)` gives, over and over, until the server closes or says GOAWAY, or so many were
        sent. Returns how many."""
        sent = 0
        while sent < frames_max and not self.ended and self.goaway() is None:
            self.send(b"".join(make(sent + i) for i in range(batch)))
            sent += batch
            self.read()
        return sent

    def flood_without_reading(self, data, *, bytes_max):
        """Sends data over and over and reads nothing, until the server closes, or so much was sent, or it takes no
        more."""
        sent = 0
        while sent < bytes_max:
            _, writable, _ = select.select([], [self.socket], [], 2)
            if not writable:
                return sent
            try:
                sent += self.socket.send(data)
            except OSError:
                self.ended = True
                return sent
        return sent
