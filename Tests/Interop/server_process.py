"""A test server as a process of its own."""

import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import threading

START_SECONDS = 30
STOP_SECONDS = 15
_LISTENING = re.compile(r"^listening on (127\.0\.0\.1:\d+)$")


class ServerProcess:
    """Starts a server with `arguments` and knows its `address`; a context that ends it.

    `command` is a path, or "reference" for the server made of grpcio.
    """

    def __init__(self, arguments=(), command=None):
        self._process = subprocess.Popen(
            [*_command(command or os.environ["INTEROP_SERVER"]), *map(str, arguments)], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "SWIFT_BACKTRACE": "enable=no"})
        self._lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.address = self._first_address()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def _first_address(self):
        try:
            while (line := self._lines.get(timeout=START_SECONDS)) is not None:
                if match := _LISTENING.match(line):
                    return match.group(1)
        except queue.Empty:
            pass
        self.kill()
        raise RuntimeError(f"the server did not start (exit status {self._process.poll()})")

    @property
    def port(self):
        return int(self.address.rsplit(":", 1)[1])

    @property
    def pid(self):
        return self._process.pid

    def terminate(self):
        """Asks for a graceful stop, and returns at once."""
        self._process.send_signal(signal.SIGTERM)

    def wait(self):
        """The exit status."""
        return self._process.wait(timeout=STOP_SECONDS)

    def kill(self):
        self._process.kill()
        self._process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self.terminate()
            try:
                self.wait()
            except subprocess.TimeoutExpired:
                self.kill()
                raise


def _command(command):
    if command == "reference":
        return [sys.executable, str(pathlib.Path(__file__).with_name("reference_server.py"))]
    return [command]
