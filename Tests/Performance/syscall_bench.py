"""System calls of one call that is made while nothing else is: each wakes somebody up, and none can be shared with another call.
Counted by strace, the same whatever else the machine does.

A server can't do with less than three for each message that it waits for: it sleeps, reads and writes.
"""

import contextlib
import os
import re
import signal
import subprocess

from echo_bench import PATH as ECHO, message
from edge_bench import BEFORE, OURS, PROGRAMS, me_stack
from h2load import Target
from messages import int32_value
from private_postgres import private_postgres
from processes import BenchError, listening_port, running
from read_bench import ANSWER_BYTES, PATH as READ, ROWS, DATABASE, prepare
from report import Bar, Figure

# What is counted of a server that makes so few and so many calls differs by what calls cost alone.
CALLS_FEW, CALLS_MANY = 200, 1_200
# How the name of a thread ends that Dispatch runs the log's queue on.
LOG_THREAD = "qos.overcommit"
# The least: to sleep, read and write for the call, and for each call that it makes itself.
NEEDED = {"echo by gRPC": 3, "keyed read by gRPC": 6, "GET /me, gateway": 9, "GET /me, identity": 6, "GET /me, profile": 6}
# Over the least: timers now and then.
CALLS_OVER_MAX = 0.5
# Wakes the log's thread, which then writes all that comes for a while: the less for a call, the faster calls follow each other.
WAKES_LOG = "futex"


def _loops(process_id):
    """The threads of a process but that of its log, which works less the more calls there are."""
    found = []
    for thread in os.listdir(f"/proc/{process_id}/task"):
        with open(f"/proc/{process_id}/task/{thread}/comm", encoding="utf-8") as file:
            if not file.read().strip().endswith(LOG_THREAD):
                found.append(thread)
    return found


class _Count:
    """System calls of a process by name, but those of its log's thread, from now on."""

    def __init__(self, process_id, scratch):
        self.path = os.path.join(scratch, f"strace-{process_id}")
        threads = [word for thread in _loops(process_id) for word in ("-p", thread)]
        self.process = subprocess.Popen(
            ["strace", "-c", "-U", "calls,name", "-o", self.path, *threads],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        # Its first line says that it holds a thread; the others follow at once.
        if b"attached" not in self.process.stderr.readline():
            self.process.kill()
            raise BenchError("strace may not look at processes here (ptrace)")

    def end(self):
        """Lets the process go, and gives the counts."""
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=20)
        with open(self.path, encoding="ascii") as file:
            rows = re.findall(r"^\s*(\d+)\s+(\w+)$", file.read(), re.MULTILINE)
        return {name: int(count) for count, name in rows if name != "total"}


@contextlib.contextmanager
def counting(process_id, scratch):
    """Counts a process' system calls by name while the block runs; they are there behind it."""
    found = {}
    count = _Count(process_id, scratch)
    try:
        yield found
    finally:
        found |= count.end()


def _alone(target, calls, core):
    """So many calls, one after the other, each with its answer."""
    target.connections = target.in_flight = 1
    target.load(calls, core)


def _per_call(process_ids, target, options, scratch):
    """System calls of a call in each of these processes, by name."""
    found = {}
    for name, process_id in process_ids.items():
        counts = []
        for calls in (CALLS_FEW, CALLS_MANY):
            count = _Count(process_id, scratch)
            _alone(target, calls, options.load_core)
            counts.append(count.end())
        few, many = counts
        found[name] = {
            call: (number - few.get(call, 0)) / (CALLS_MANY - CALLS_FEW) for call, number in many.items()}
    return found


def _figures(what, version, calls):
    total = sum(calls.values())
    most = sorted(((number, call) for call, number in calls.items() if abs(number) >= 0.05), reverse=True)
    return total, Figure(
        f"{what}, {version}", f"{total:.1f} system calls", "", ", ".join(f"{number:.1f} {call}" for number, call in most))


def _server_counts(binaries, options, scratch, postgres):
    """Of the benchmark's own server: an echo, and a read."""
    server = f"{binaries}/bench-server"
    counts = {}
    for what, path, arguments, request, answer_bytes in (
            ("echo by gRPC", ECHO, ["echo"], message(), len(message())),
            ("keyed read by gRPC", READ, ["read", postgres.socket_folder, DATABASE, str(ROWS)], int32_value(0), ANSWER_BYTES)):
        log = os.path.join(scratch, "syscalls.log")
        with running([server, *arguments], log, core=options.server_core) as process:
            target = Target(process.pid, listening_port(process, log), path, request, answer_bytes, scratch)
            _alone(target, CALLS_FEW, options.load_core)
            counts |= _per_call({what: process.pid}, target, options, scratch)
    return counts


def _stack_counts(binaries, options, folder, scratch):
    with me_stack(options, folder, binaries) as (stack, target):
        _alone(target, CALLS_FEW, options.load_core)
        ids = {f"GET /me, {name}": stack.process_of(name) for name in PROGRAMS}
        return _per_call(ids, target, options, scratch)


def measure(options, scratch):
    """Gives the figures, a bar for each of ours, and notes."""
    versions = {OURS: options.binaries}
    if options.against:
        versions[BEFORE] = options.against
    figures, bars = [], []
    with private_postgres(os.path.join(scratch, "syscalls-pg")) as postgres:
        prepare(postgres, options.say)
        for version, binaries in versions.items():
            counts = _server_counts(binaries, options, scratch, postgres)
            counts |= _stack_counts(binaries, options, os.path.join(scratch, f"syscalls-{version}"), scratch)
            for what, calls in counts.items():
                total, figure = _figures(what, version, calls)
                options.say(f"{figure.what}: {figure.result} ({figure.note})")
                figures.append(figure)
                if version == OURS:
                    wanted = NEEDED[what] + CALLS_OVER_MAX
                    total -= calls.get(WAKES_LOG, 0)
                    bars.append(Bar(
                        f"system calls of {what}, alone, but to wake the log", f"{total:.1f}", f"at most {wanted}", total <= wanted))
    return figures, bars, [
        "System calls: one call after the other on one connection, counted by strace; a server needs three for each message "
        "that it waits for. The log's own thread, which writes the lines of ten milliseconds at once, is left out."]
