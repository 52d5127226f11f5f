"""What the kernel counts of a process that runs as always: its system calls, by perf, and its context switches."""

import contextlib
import os
import re
import select
import signal
import subprocess

from processes import BenchError

SWITCHES = ("voluntary", "nonvoluntary")
ATTACH_SECONDS_MAX = 10


def switches(process_id):
    """Context switches of the threads that live, by kind: voluntary ones wait for something, the others gave way."""
    found = dict.fromkeys(SWITCHES, 0)
    folder = f"/proc/{process_id}/task"
    for thread in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            with open(f"{folder}/{thread}/status", encoding="ascii", errors="replace") as file:
                for kind, number in re.findall(r"^(\w+)_ctxt_switches:\s+(\d+)", file.read(), re.MULTILINE):
                    found[kind] += int(number)
    return found


def sockets_to(process_id, port):
    """The file descriptors of a process that are connected to this port of IPv4's loopback."""
    with open(f"/proc/{process_id}/net/tcp", encoding="ascii") as file:
        rows = [line.split() for line in file.readlines()[1:]]
    inodes = {row[9] for row in rows if int(row[2].split(":")[1], 16) == port}
    found = []
    for descriptor in os.listdir(f"/proc/{process_id}/fd"):
        with contextlib.suppress(FileNotFoundError):
            inode = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(f"/proc/{process_id}/fd/{descriptor}"))
            if inode and inode[1] in inodes:
                found.append(int(descriptor))
    return found


class EventCount:
    """Counts of the kernel's tracepoints in a process from now on: each is its name, or a pair with a filter."""

    def __init__(self, process_id, events, scratch):
        self.path = os.path.join(scratch, f"perf-{process_id}")
        words = []
        for event in events:
            name, condition = event if isinstance(event, tuple) else (event, None)
            words += ["-e", name, *(["--filter", condition] if condition else [])]
        control_end, self.control = os.pipe()
        self.answers, answer_end = os.pipe()
        try:
            self.process = subprocess.Popen(
                ["perf", "stat", "--delay=-1", f"--control=fd:{control_end},{answer_end}", "-x,", "-o", self.path, "-p",
                 str(process_id), *words],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, pass_fds=(control_end, answer_end))
        except FileNotFoundError as error:
            self._close()
            raise BenchError("perf is missing: install the package linux-perf") from error
        finally:
            os.close(control_end)
            os.close(answer_end)
        self._order("enable")

    def _order(self, word):
        """perf answers when it has done it; its end of the pipe closes if it ends."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self.control, f"{word}\n".encode())
        ready, _, _ = select.select([self.answers], [], [], ATTACH_SECONDS_MAX)
        if not ready or not os.read(self.answers, 16).startswith(b"ack"):
            self.process.kill()
            said = self.process.communicate()[1].decode(errors="replace").strip()
            self._close()
            raise BenchError(f"perf can't count system calls here: {said.splitlines()[-1] if said else 'it says nothing'}")

    def _close(self):
        os.close(self.control)
        os.close(self.answers)

    def end(self):
        """Gives the counts in the order of the events."""
        self._order("disable")
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=20)
        self._close()
        with open(self.path, encoding="ascii") as file:
            words = [line.split(",")[0] for line in file if line.strip() and not line.startswith("#")]
        return [int(word) if word.isdigit() else 0 for word in words]
