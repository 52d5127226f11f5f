"""A stack's programs started by hand, so that each can be taken away and given back while the others run.

`vestibule run` ends everything as soon as one part is gone. So it makes the data and is looked at, then its parts are
started again with the same command lines and environments, without it.
"""

import contextlib
import os
import signal
import subprocess
import time

import process_table
from stack import PROGRAMS

POSTGRESQL = "postgresql"
# Longer than the longest wait between two attempts to reach what was away.
BACK_SECONDS = 30
# Longer than the gateway gives an answer about readiness again.
READINESS_SECONDS = 0.3


class Parts:
    """PostgreSQL and the five programs of a stack, each a child of ours."""

    def __init__(self, stack):
        self.stack = stack
        stack.start()
        found = {name: stack.process_of(name) for name in PROGRAMS} | {POSTGRESQL: stack.postmaster}
        # While they run: later only PostgreSQL may.
        stack.database_environment()
        self._commands = {name: process_table.command_line(process) for name, process in found.items()}
        self._environments = {name: process_table.environment(process) for name, process in found.items()}
        assert stack.stop() == 0
        self._processes = {}
        # What is started where nothing else is named.
        self.names = (POSTGRESQL, *PROGRAMS)

    def environment(self, name):
        """A part's variables."""
        return dict(self._environments[name])

    def setting(self, name, key):
        """A variable of a part's environment."""
        return self._environments[name].get(key, "")

    def configure(self, *names, **variables):
        """Changes variables of parts for their next start."""
        for name in names:
            self._environments[name] |= variables

    def run(self, name, *arguments, seconds=60, **variables):
        """Runs another command of a program, with its environment and other variables, to its end."""
        return subprocess.run([self._commands[name][0], *arguments], env=self._environments[name] | variables, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=seconds)

    def start(self, *names):
        for name in names:
            log = open(self.stack.folder / "logs" / f"{name}-by-hand.log", "ab")
            with log:
                self._processes[name] = subprocess.Popen(
                    self._commands[name], env=self._environments[name], stdin=subprocess.DEVNULL, stdout=log,
                    stderr=log, start_new_session=True, **self._account(name))

    def restart(self, *names):
        for name in names:
            self.kill(name)
        self.start(*names)

    def kill(self, name):
        """Ends a part at once. With PostgreSQL go its sessions."""
        process = self._processes.pop(name)
        sessions = self._freeze(process.pid)
        for each in [process.pid, *sessions]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        process.wait()
        process_table.wait_until(
            lambda: not any(process_table.is_running(each) for each in sessions), 10, "the end of the sessions")

    def end(self, name, signal_number):
        """Has a part end as a signal tells it to; returns the exit status."""
        process = self._processes.pop(name)
        process.send_signal(signal_number)
        return process.wait(timeout=BACK_SECONDS)

    def status(self, name):
        """How a part ended; none while it runs."""
        return self._processes[name].poll()

    @contextlib.contextmanager
    def frozen(self, name):
        """A part that is there and does nothing."""
        process = self._processes[name].pid
        stopped = [*self._freeze(process), process]
        try:
            yield
        finally:
            for each in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each, signal.SIGCONT)

    @property
    def running(self):
        return [name for name, process in self._processes.items() if process.poll() is None]

    def expect_back(self):
        """Starts what is away, and waits until everything answers; nobody tells the parts that were left."""
        self.start(*(name for name in self.names if name not in self.running))
        process_table.wait_until(self._all_answer, BACK_SECONDS, lambda: f"readiness; it is {self._readiness()}")

    def _all_answer(self):
        with contextlib.suppress(OSError):
            self.stack.simulator.get("/healthz", seconds=2).expect(200)
            return self.is_ready()
        return False

    def is_ready(self):
        """Whether all services are ready, by an answer that is younger than this call."""
        if self.stack.gateway.get("/readyz", seconds=5).status != 200:
            return False
        time.sleep(READINESS_SECONDS)
        return self.stack.gateway.get("/readyz", seconds=5).status == 200

    def _readiness(self):
        try:
            return self.stack.gateway.get("/readyz").content
        except OSError as error:
            return error

    def _freeze(self, process):
        os.kill(process, signal.SIGSTOP)  # First, or it could make another child while we look.
        children = process_table.children(process)
        for each in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGSTOP)
        return children

    def _account(self, name):
        """PostgreSQL runs as the owner of its data: never as root."""
        if name != POSTGRESQL:
            return {}
        owner = (self.stack.folder / "postgres/data").stat()
        if owner.st_uid == os.geteuid():
            return {"cwd": "/"}
        return {"cwd": "/", "user": owner.st_uid, "group": owner.st_gid, "extra_groups": []}


class Stopwatch:
    """How long a block took, in seconds."""

    def __enter__(self):
        self._start = time.monotonic()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self._start
