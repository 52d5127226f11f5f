"""A network that loses answers: requests pass to the gateway, and what comes back may be cut."""

import collections
import contextlib
import socket
import struct
import threading

SECONDS = 20
# Closes with RST (socket(7), SO_LINGER with a time of zero).
ABORT = struct.pack("ii", 1, 0)


class CuttingProxy:
    """Listens on an address of its own. Connections to the gateway come from `source`, since requests are counted by address."""

    def __init__(self, target, source):
        host, port = target.rsplit(":", 1)
        self._target, self._source = (host, int(port)), (source, 0)
        self._orders = collections.deque()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self._listener.getsockname()[1]
        # Requests whose answer the gateway gave in full, whatever became of it on the way.
        self.answered = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def lose_next(self, count=1, part=0.0):
        """The next answers are lost once the gateway has given them: by a reset of the connection, or by its end after a part."""
        self._orders.extend([part] * count)

    def close(self):
        # A thread that waits in accept(2) is not woken by close alone.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        connection.settimeout(SECONDS)
        with connection, contextlib.suppress(OSError):
            with socket.create_connection(self._target, SECONDS, self._source) as gateway:
                while request := _message(connection, has_body_to_end=False):
                    gateway.sendall(request)
                    answer = _message(gateway, has_body_to_end=True)
                    self.answered += 1
                    if not self._orders:
                        connection.sendall(answer)
                        continue
                    part = self._orders.popleft()
                    if part:
                        connection.sendall(answer[:int(len(answer) * part)])
                    else:
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
                    return


def _message(connection, has_body_to_end):
    """The bytes of one HTTP/1.1 message; none at the end of the connection (RFC 9112 section 6.3)."""
    content = b""
    while b"\r\n\r\n" not in content:
        more = connection.recv(65_536)
        if not more:
            return b""
        content += more
    head, _, body = content.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:])
    if b"chunked" in fields.get(b"transfer-encoding", b""):
        while not body.endswith(b"0\r\n\r\n"):
            body += connection.recv(65_536)
    elif b"content-length" in fields:
        while len(body) < int(fields[b"content-length"]):
            body += connection.recv(65_536) or _cut()
    elif has_body_to_end and head.split(b" ")[1] not in (b"204", b"304"):
        while more := connection.recv(65_536):
            body += more
    return head + b"\r\n\r\n" + body


def _cut():
    raise OSError("the peer ended in the middle of a message")
