"""An honest client in a process of its own: makes calls all the while, by gRPC and, where the server speaks it, by Connect over
HTTP/1.1 as well, and measures how long each response takes.

A line on its input asks for a report of the calls since the last report, which it prints as JSON.
"""

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import queue
import ssl
import subprocess
import sys
import threading
import time

PAUSE_SECONDS = 0.005
CALL_SECONDS_MAX = 10
#: The longest that a call may take under attack, without the waits for a processor.
LATENCY_SECONDS_MAX = 1.0
METHOD = "/grpc.testing.TestService/EmptyCall"


class Bystander:
    """The other end of that process, for tests."""

    def __init__(self, server, *, has_http=False, authority=None):
        arguments = [*(["--http"] if has_http else []), *(["--authority", str(authority)] if authority else [])]
        self._process = subprocess.Popen(
            [sys.executable, __file__, server.address, str(server.pid), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.report()  # once it is there

    def report(self):
        """Calls since the last report: how many, the slowest in seconds, the errors."""
        self._process.stdin.write("report\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def check(self):
        """Fails unless calls since the last report were answered in time and without an error."""
        seen = self.report()
        assert seen["errors"] == []
        assert seen["calls"] > 0
        assert seen["slowest"] < LATENCY_SECONDS_MAX, seen

    def close(self):
        self._process.stdin.close()
        self._process.wait(timeout=CALL_SECONDS_MAX)


class _HTTPCalls:
    """Calls by Connect in JSON, on a connection that is kept."""

    def __init__(self, address, authority):
        port = int(address.rsplit(":", 1)[1])
        if authority is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=CALL_SECONDS_MAX)
        else:
            context = ssl.create_default_context(cafile=authority)
            self._connection = http.client.HTTPSConnection("localhost", port, timeout=CALL_SECONDS_MAX, context=context)

    def call(self):
        """Makes one; the error, if there is any."""
        try:
            self._connection.request("POST", METHOD, b"{}", {"Content-Type": "application/json"})
            answer = self._connection.getresponse()
            body = answer.read()
            return None if (answer.status, body) == (200, b"{}") else f"HTTP: {answer.status} {body[:200]!r}"
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()  # the next one opens it anew
            return f"HTTP: {error!r}"


def _grpc_calls(address, authority):
    """A function that makes a call, and gives the error, if there is any."""
    import grpc

    if authority is None:
        channel = grpc.insecure_channel(address)
    else:
        with open(authority, "rb") as file:
            credentials = grpc.ssl_channel_credentials(file.read())
        channel = grpc.secure_channel(f"localhost:{address.rsplit(':', 1)[1]}", credentials)
    method = channel.unary_unary(METHOD)

    def call():
        try:
            method(b"", timeout=CALL_SECONDS_MAX)
            return None
        except grpc.RpcError as error:
            return f"{error.code().name}: {error.details()}"

    return call


def _processor_waits(*processes):
    """For how long, in seconds, the threads of these processes were ready to run and had no processor: what a busy machine
    adds to a call is no fault of the server."""
    nanoseconds = 0
    for process in processes:
        for statistics in pathlib.Path(f"/proc/{process}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):  # a thread that has ended
                nanoseconds += int(statistics.read_text().split()[1])
    return nanoseconds / 1e9


def _make_calls(options, reports):
    calls = [_grpc_calls(options.address, options.authority)]
    if options.http:
        calls.append(_HTTPCalls(options.address, options.authority).call)
    count, slowest, errors = 0, 0.0, []
    processes = (options.pid, os.getpid())
    while True:
        for call in calls:
            start = time.monotonic() - _processor_waits(*processes)
            error = call()
            count, slowest = count + 1, max(slowest, time.monotonic() - _processor_waits(*processes) - start)
            if error is not None:
                errors.append(error)
        try:
            if reports.get(timeout=PAUSE_SECONDS) is None:
                return
            print(json.dumps({"calls": count, "slowest": slowest, "errors": errors}), flush=True)
            count, slowest, errors = 0, 0.0, []
        except queue.Empty:
            pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("pid", type=int)
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--authority")
    options = parser.parse_args()
    reports = queue.Queue()
    calls = threading.Thread(target=_make_calls, args=(options, reports))
    calls.start()
    for line in sys.stdin:
        reports.put(line)
    reports.put(None)
    calls.join()


if __name__ == "__main__":
    main()
