"""An app's calls through the gateway, from several threads that each keep a connection, in a loop with an end."""

import collections
import dataclasses
import http.client
import json
import threading
import time

TIMEOUT_SECONDS = 10
LOAD_SECONDS_MAX = 240


@dataclasses.dataclass(frozen=True)
class Call:
    name: str
    begun: float
    seconds: float
    problem: str


class Load:
    """Use with `with`: calls are made inside, and counted. `failed_since` and the like may be asked at any time."""

    def __init__(self, address, sessions, pause_seconds=0.015, context=None):
        """`context` is that of TLS; without it, calls go in clear text."""
        self.address = address
        self._context = context
        self._pause = pause_seconds
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._calls = []
        self._threads = [threading.Thread(target=self._work, args=(index, session), daemon=True)
                         for index, session in enumerate(sessions)]

    def __enter__(self):
        self._limit = time.monotonic() + LOAD_SECONDS_MAX
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join(TIMEOUT_SECONDS + 5)
            assert not thread.is_alive(), "a call hangs"

    @property
    def threads(self):
        return len(self._threads)

    def calls(self, since=0.0):
        with self._lock:
            return [call for call in self._calls if call.begun >= since]

    def failed(self, since=0.0):
        return [call for call in self.calls(since) if call.problem]

    def summary(self, since=0.0):
        calls = self.calls(since)
        times = sorted(call.seconds for call in calls) or [0]
        bad = collections.Counter(f"{call.name}: {call.problem}" for call in calls if call.problem)
        text = f"{len(calls)} calls, p99 {times[len(times) * 99 // 100] * 1000:.0f} ms, longest {times[-1] * 1000:.0f} ms"
        return text + "".join(f"; {count} × {problem}" for problem, count in bad.items())

    def _work(self, index, session):
        connection = None
        count = 0
        while not self._stop.is_set() and time.monotonic() < self._limit:
            count += 1
            name, method, path, body = self._next(index, count, session)
            begun = time.monotonic()
            problem = ""
            try:
                if connection is None:
                    connection = self._connect()
                status, answer = _send(connection, method, path, body, session["access_token"])
                if status >= 300:
                    problem = f"{status} {answer.get('code')}"
                elif name == "refresh":
                    session.update(access_token=answer["access_token"], refresh_token=answer["refresh_token"])
            except (OSError, http.client.HTTPException, ValueError) as error:
                problem = type(error).__name__
                connection = None
            with self._lock:
                self._calls.append(Call(name, begun, time.monotonic() - begun, problem))
            self._stop.wait(self._pause)

    def _connect(self):
        host, port = self.address.rsplit(":", 1)
        if self._context:
            return http.client.HTTPSConnection(host, int(port), timeout=TIMEOUT_SECONDS, context=self._context)
        return http.client.HTTPConnection(host, int(port), timeout=TIMEOUT_SECONDS)

    def _next(self, index, count, session):
        """Reads of three services, writes of two; a refresh now and then, within the gateway's rate for an address."""
        kinds = [
            ("me", "GET", "/me", None),
            ("groups", "GET", "/groups", None),
            ("me", "GET", "/me", None),
            ("change", "PATCH", "/me", {"display_name": f"Load {chr(65 + index)} {'abcdefghij'[count % 10]}"}),
            ("groups", "GET", "/groups", None),
        ]
        if count % 25 == 0:
            return "refresh", "POST", "/auth/refresh", {"refresh_token": session["refresh_token"]}
        return kinds[count % len(kinds)]


def _send(connection, method, path, body, token):
    headers = {"Authorization": f"Bearer {token}"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    connection.request(method, path, body=json.dumps(body) if body is not None else None, headers=headers)
    response = connection.getresponse()
    content = response.read()
    return response.status, json.loads(content) if content else {}
