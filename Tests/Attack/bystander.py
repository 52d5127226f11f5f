"""An honest client in a process of its own: makes calls all the while, and tells of each answer how long it took.

A line on its input asks for a report of the calls since the one before, which it prints as JSON.
"""

import json
import queue
import subprocess
import sys
import threading
import time

PAUSE_SECONDS = 0.005
CALL_SECONDS_MAX = 10


class Bystander:
    """The other end of that process, for tests."""

    def __init__(self, address):
        self._process = subprocess.Popen(
            [sys.executable, __file__, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.report()  # once it is there

    def report(self):
        """Calls since the last report: how many, the slowest in seconds, the errors."""
        self._process.stdin.write("report\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.wait(timeout=CALL_SECONDS_MAX)


def _make_calls(address, reports):
    import grpc

    with grpc.insecure_channel(address) as channel:
        call = channel.unary_unary("/grpc.testing.TestService/EmptyCall")
        count, slowest, errors = 0, 0.0, []
        while True:
            start = time.monotonic()
            try:
                call(b"", timeout=CALL_SECONDS_MAX)
            except grpc.RpcError as error:
                errors.append(f"{error.code().name}: {error.details()}")
            count, slowest = count + 1, max(slowest, time.monotonic() - start)
            try:
                if reports.get(timeout=PAUSE_SECONDS) is None:
                    return
                print(json.dumps({"calls": count, "slowest": slowest, "errors": errors}), flush=True)
                count, slowest, errors = 0, 0.0, []
            except queue.Empty:
                pass


def main():
    reports = queue.Queue()
    calls = threading.Thread(target=_make_calls, args=(sys.argv[1], reports))
    calls.start()
    for line in sys.stdin:
        reports.put(line)
    reports.put(None)
    calls.join()


if __name__ == "__main__":
    main()
