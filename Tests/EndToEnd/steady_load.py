"""Clients that ask a gateway without a pause, as well-behaved ones do: a connection is kept until the other side says that it
ends. Every request that has no good answer is remembered."""

import http.client
import json
import socket
import threading
import time

import h2.config
import h2.connection
import h2.events

SECONDS = 15
STREAMS = 4


class SteadyLoad:
    """Use with `with`: workers ask inside. Each is a function without arguments that makes a request, or some at once, and
    returns their number; whatever it throws is a failure."""

    def __init__(self, workers):
        self._workers = workers
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self.counts = {name: 0 for name in workers}
        self.failures = []

    def __enter__(self):
        self._threads = [threading.Thread(target=self._work, args=item, daemon=True) for item in self._workers.items()]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join(timeout=SECONDS + 5)
            assert not thread.is_alive(), "a request hangs"

    def _work(self, name, ask):
        while not self._stop.is_set():
            try:
                count, failure = ask(), None
            except Exception as error:  # Whatever it is, a request was not answered.
                count, failure = 0, f"{time.strftime('%H:%M:%S')} {name}: {type(error).__name__}: {error}"
            with self._lock:
                self.counts[name] += count
                if failure:
                    self.failures.append(failure)
            if failure:
                time.sleep(0.1)


def expect(status, content):
    """Reads and writes of an account succeed."""
    if status != 200:
        raise AssertionError(f"{status} {content[:200]!r}")


class KeptConnection:
    """HTTP/1.1 with a connection for one request after the other: reads and, each fourth time, a write."""

    def __init__(self, address, token, context=None):
        self._host, port = address.rsplit(":", 1)
        self._port = int(port)
        self._token = token
        self._context = context
        self._connection = None
        self._count = 0

    def __call__(self):
        self._count += 1
        if self._connection is None:
            self._connection = self._connect()
        headers = {"Authorization": f"Bearer {self._token}"}
        try:
            if self._count % 4 == 0:
                body = json.dumps({"display_name": f"Ana {'abcdefghij'[self._count % 10]}"})
                self._connection.request("PATCH", "/me", body, headers | {"Content-Type": "application/json"})
            else:
                self._connection.request("GET", "/me", headers=headers)
            response = self._connection.getresponse()
            content = response.read()
        except BaseException:
            self._connection = None
            raise
        if response.will_close:
            self._connection.close()
            self._connection = None
        expect(response.status, content)
        return 1

    def _connect(self):
        if self._context:
            return http.client.HTTPSConnection(self._host, self._port, timeout=SECONDS, context=self._context)
        return http.client.HTTPConnection(self._host, self._port, timeout=SECONDS)


class _Connection(h2.connection.H2Connection):
    """One whose streams go on after a GOAWAY, as RFC 9113 section 6.8 lets those up to the one that it names; h2 takes it for
    the end."""

    def _receive_goaway_frame(self, frame):
        state = self.state_machine.state
        try:
            return super()._receive_goaway_frame(frame)
        finally:
            self.state_machine.state = state


class Streams:
    """HTTP/2 in clear text by prior knowledge, some streams at once: reads and, each fourth time, a write."""

    def __init__(self, address, token):
        self._host, port = address.rsplit(":", 1)
        self._port = int(port)
        self._token = token
        self._socket = None
        self._count = 0
        self.is_leaving = False

    def __call__(self):
        if self._socket is None:
            self._open()
        try:
            answers = self._ask()
        except BaseException:
            self._close()
            raise
        if self.is_leaving:  # The next ones go elsewhere.
            self._close()
        for status, content in answers:
            expect(status, content)
        return len(answers)

    def _open(self):
        self._socket = socket.create_connection((self._host, self._port), timeout=SECONDS)
        self._http = _Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self._http.initiate_connection()
        self.is_leaving = False

    def _close(self):
        self._socket.close()
        self._socket = None

    def _ask(self):
        """Opens the streams and reads until each is answered, whether the other side says GOAWAY meanwhile or not: it said it
        after these, or will say that they are not among those that it answers."""
        statuses, contents, open_streams = {}, {}, set()
        for _ in range(STREAMS):
            self._count += 1
            open_streams.add(self._request())
        self._socket.sendall(self._http.data_to_send())
        while open_streams:
            received = self._socket.recv(65536)
            if not received:
                raise ConnectionError(f"closed with {len(open_streams)} streams open")
            for event in self._http.receive_data(received):
                if isinstance(event, h2.events.ResponseReceived):
                    statuses[event.stream_id] = int(dict(event.headers)[":status"])
                elif isinstance(event, h2.events.DataReceived):
                    contents[event.stream_id] = contents.get(event.stream_id, b"") + event.data
                    self._http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    open_streams.remove(event.stream_id)
                elif isinstance(event, h2.events.StreamReset):
                    raise ConnectionError(f"a stream was reset with {event.error_code}")
                elif isinstance(event, h2.events.ConnectionTerminated):
                    self.is_leaving = True
                    if event.error_code or event.last_stream_id < max(open_streams, default=0):
                        raise ConnectionError(f"GOAWAY {event.error_code} up to {event.last_stream_id}")
            self._socket.sendall(self._http.data_to_send())
        return [(statuses[stream], contents.get(stream, b"")) for stream in statuses]

    def _request(self):
        stream = self._http.get_next_available_stream_id()
        is_write = self._count % 4 == 0
        headers = [
            (":method", "PATCH" if is_write else "GET"), (":scheme", "http"), (":authority", "gateway"), (":path", "/me"),
            ("authorization", f"Bearer {self._token}")]
        if not is_write:
            self._http.send_headers(stream, headers, end_stream=True)
            return stream
        body = json.dumps({"display_name": f"Ana {'abcdefghij'[self._count // 4 % 10]}"}).encode()
        self._http.send_headers(stream, [*headers, ("content-type", "application/json")])
        self._http.send_data(stream, body, end_stream=True)
        return stream
