"""A scripted server: HTTP/1.1 on loopback, with faults by request, and checks of every request."""

import asyncio
import contextlib
import dataclasses
import json
import struct
import urllib.parse

from checks import Checks
from faults import Fault, error_answer, error_value, json_answer, page
from methods import Methods
from sessions import Token

REORDER_SECONDS = 0.15
#: How long the end of a killed client's connection may take to arrive.
ENDING_SECONDS = 0.05
HEAD_BYTES_MAX = 65536
PACKAGE = "/vestibule.app.v1."
REFRESHES = ("AuthService/RefreshSession", "/oauth2/token")


@dataclasses.dataclass
class Request:
    """A request that arrived."""

    method: str
    headers: dict
    body: bytes
    length: int

    @property
    def value(self):
        """The JSON or the form of the body."""
        if self.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            return dict(urllib.parse.parse_qsl(self.body.decode()))
        try:
            return json.loads(self.body or b"{}")
        except ValueError:
            return {}


class ScriptedServer:
    """The server. `methods` is what it knows, `faults` what happens to the next requests, `checks` what was wrong."""

    def __init__(self, **settings):
        self.methods = Methods(**settings)
        self.checks = Checks(self.methods)
        self.faults = []
        self.requests = []
        self.streams = set()
        self._added = []
        self._waiting = {}
        self._refreshing = {}
        self._connections = set()

    async def start(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        self.methods.issuer = self.url
        return self

    async def close(self):
        self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def add_fault(self, **fault):
        self.faults.append(Fault(**fault))
        self._added.append(self.faults[-1])

    def release(self):
        """Lets go of all requests that are held, or would be."""
        for fault in self._added:
            fault.released.set()

    def clear_faults(self):
        self.faults = []
        self.release()

    def advance(self, seconds):
        """Time passes; streams whose tokens expire by it end."""
        self.methods.advance(seconds)
        self.check_streams()

    def check_streams(self):
        for stream in list(self.streams):
            error = self.methods.stream_error(stream.headers)
            if error is not None:
                stream.end(error)

    # Another dialect

    def translate(self, request):
        """Makes a request of a dialect one of the kits."""

    def translate_answer(self, request, answer):
        """Makes the answer one of the request's dialect."""
        return answer

    # A connection

    async def _serve(self, reader, writer):
        task = asyncio.current_task()
        self._connections.add(task)
        connection = Connection(reader, writer)
        try:
            while await self._serve_request(connection):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve_request(self, connection):
        request = await connection.read()
        if request is None:
            return False
        self.translate(request)
        fault = next((each for each in self.faults if each.meets(request.method)), None)
        if fault is not None:
            fault.times -= 1
        if fault is not None and fault.kind == "cutRequest":
            return connection.cut(fault.at < request.length)
        self.requests.append(request)
        self.checks.token(self._presented(request))
        if request.method == "GroupService/WatchGroups":
            if fault is None or fault.kind not in ("refuse", "page", "text"):
                await Stream(self, request, connection).run()
                return False
        async with self._one_refresh(request, connection):
            answer = self.translate_answer(request, await self._answer(request, fault))
            return await self._send(connection, answer, fault, request.method)

    @staticmethod
    def _presented(request):
        """The token of a request that needs one; a session may be signed out after it has left the store."""
        if request.method == "AuthService/SignOut":
            return ""
        if request.method in REFRESHES:
            return request.value.get("refreshToken") or request.value.get("refresh_token") or ""
        return request.headers.get("authorization", "").removeprefix("Bearer ")

    @contextlib.asynccontextmanager
    async def _one_refresh(self, request, connection):
        """Checks that no other refresh of the session is under way."""
        token = Token.read(self._presented(request)) if request.method in REFRESHES else None
        if token is None:
            yield
            return
        others = self._refreshing.setdefault(token.session, {})
        if any(not each.is_gone for each in others):
            await asyncio.sleep(ENDING_SECONDS)
            for other, text in others.items():
                if not other.is_gone and not connection.is_gone:
                    self.checks.refreshes(token.session, (text, token))
        others[connection] = token
        try:
            yield
        finally:
            others.pop(connection, None)

    async def _answer(self, request, fault):
        kind = fault.kind if fault else None
        arrived = self.methods.now()
        if kind == "refuse":
            await asyncio.sleep(fault.ms / 1000)
            return error_answer(fault.status, fault.code, fault.retryAfterSeconds)
        if kind == "page":
            return page(fault.status, fault.retryAfterSeconds)
        if kind == "text":
            answer = json_answer({}, fault.status)
            answer.body = fault.body.encode()
            return answer
        if kind == "holdRequest":
            await fault.released.wait()
        if kind == "delayRequest":
            await asyncio.sleep(fault.ms / 1000)
        answer = self.methods.answer(request.method, request.headers, request.body, arrived)
        if kind == "double":
            answer = self.methods.answer(request.method, request.headers, request.body, arrived)
        self.check_streams()
        if kind == "hold":
            await fault.released.wait()
        if kind == "delay":
            await asyncio.sleep(fault.ms / 1000)
        await self._pass(request.method, kind == "reorder")
        return page(fault.status) if kind == "lose" else answer

    async def _pass(self, method, waits):
        """Lets the requests of a method that wait for the next one go, or waits for it."""
        for each in self._waiting.pop(method, []):
            each.set()
        if waits:
            overtaken = asyncio.Event()
            self._waiting.setdefault(method, []).append(overtaken)
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(overtaken.wait(), REORDER_SECONDS)

    @staticmethod
    async def _send(connection, answer, fault, method):
        data = answer.encode()
        if fault is not None and fault.kind == "cutAnswer":
            connection.writer.write(data[:fault.at])
            await connection.writer.drain()
            return connection.cut(False)
        connection.writer.write(data)
        await connection.writer.drain()
        return True


class Connection:
    """A client's connection."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @property
    def is_gone(self):
        """Whether the client has closed it."""
        return self.reader.at_eof() or self.reader.exception() is not None or self.writer.is_closing()

    def cut(self, at_once):
        """Ends the connection, with a reset if `at_once`."""
        if at_once:
            self.writer.transport.abort()
        else:
            self.writer.close()
        return False

    async def read(self):
        """The next request, or None at the end."""
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        line, *fields = head.decode("latin-1").strip().split("\r\n")
        verb, target, _ = line.split(" ")
        headers = {name.strip().lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        if headers.get("expect", "").lower() == "100-continue":
            self.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body, length = b"", len(head)
        if headers.get("transfer-encoding", "").lower() == "chunked":
            while size := int((await self.reader.readuntil(b"\r\n")).split(b";")[0], 16):
                body += await self.reader.readexactly(size)
                await self.reader.readexactly(2)
            await self.reader.readuntil(b"\r\n")
        else:
            body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        path = urllib.parse.urlsplit(target).path
        name = path.removeprefix(PACKAGE) if path.startswith(PACKAGE) else path
        if not path.startswith(PACKAGE) and not path.startswith("/oauth2/"):
            name = f"{verb} {target}"
        return Request(name, headers, body, length + len(body))


class Stream:
    """A stream of events that a client reads."""

    def __init__(self, server, request, connection):
        self.server, self.headers = server, request.headers
        self.connection = connection
        self.position = 0
        self._over = asyncio.Event()
        size, = struct.unpack(">I", request.body[1:5])
        self.request = json.loads(request.body[5:5 + size] or b"{}")

    async def run(self):
        writer = self.connection.writer
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/connect+json\r\ntransfer-encoding: chunked\r\n\r\n")
        error = self.server.methods.stream_error(self.headers)
        if error is not None:
            self.end(error)
        else:
            self.position = int(self.request.get("position") or 0)
            self.server.streams.add(self)
            self._write(0, {"position": str(self.position)})
        try:
            while not self._over.is_set() and not self.connection.is_gone:
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._over.wait(), 0.05)
        finally:
            self.server.streams.discard(self)

    def send(self, message):
        self.position += 1
        self._write(0, {"position": str(self.position)} | message)

    def end(self, error=None):
        """Ends the stream as the protocol says, with an error or without."""
        self._write(2, {"error": error} if error else {})
        self.connection.writer.write(b"0\r\n\r\n")
        self.server.streams.discard(self)
        self._over.set()

    def end_with(self, status, code):
        self.end(error_value(status, code))

    def cut(self):
        """Ends the connection in the middle of a message."""
        self.connection.writer.write(b"5\r\n\x00\x00\x00\x00\x09\r\n")
        self.server.streams.discard(self)
        self._over.set()

    def _write(self, flags, value):
        data = json.dumps(value).encode()
        data = bytes([flags]) + struct.pack(">I", len(data)) + data
        self.connection.writer.write(b"%x\r\n%s\r\n" % (len(data), data))
