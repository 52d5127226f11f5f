"""Instructions of an echo on the server, counted by callgrind: the same whatever else the machine does, so that a small loss
shows. Beside an older version (`--against`) there is a bar."""

import os
import re
import signal
import subprocess

from callgrind import readable
from echo_bench import FIVE_HEADERS, PATH, message
from h2load import Target
from processes import BenchError, listening_port
from report import Bar, Figure

# What the server does once, and what it does the first time, falls out of the difference of two runs.
CALLS_FEW, CALLS_MANY = 2_000, 12_000
# Of the older program's instructions.
RATIO_MAX = 1.03
STOP_SECONDS = 60


def _instructions(program, scratch, calls, headers):
    """All instructions of a server that answers so many calls, one connection with 32 of them in flight."""
    log = os.path.join(scratch, "callgrind.log")
    with open(log, "wb") as file:
        process = subprocess.Popen(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", program, "echo"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=file)
    try:
        target = Target(process.pid, listening_port(process, log, 60), PATH, message(), len(message()), scratch)
        target.connections, target.more_headers = 1, headers
        target.load(calls)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
    with open(log, encoding="utf-8", errors="replace") as file:
        found = re.search(r"Collected\s*:\s*(\d+)", file.read())
    if not found:
        raise BenchError("callgrind told no count of instructions")
    return int(found[1])


def _per_call(program, scratch, headers):
    few, many = (_instructions(program, scratch, calls, headers) for calls in (CALLS_FEW, CALLS_MANY))
    return (many - few) / (CALLS_MANY - CALLS_FEW)


def measure(options, scratch):
    """Gives the figures, and bars if there is an older program."""
    programs = {"ours": readable(f"{options.binaries}/bench-server", scratch, "ours")}
    if options.against:
        programs["before"] = readable(f"{options.against}/bench-server", scratch, "before")
    figures, bars = [], []
    for what, headers in (("echo", []), ("echo with five headers", FIVE_HEADERS)):
        counts = {name: _per_call(program, scratch, headers) for name, program in programs.items()}
        for name, count in counts.items():
            options.say(f"instructions of an {what}, {name}: {count:,.0f}")
            figures.append(Figure(f"{what}, {name}", f"{count:,.0f} instructions", "", "the server's, by callgrind"))
        if options.against:
            ratio = counts["ours"] / counts["before"]
            bars.append(Bar(
                f"instructions of an {what} over those before", f"{ratio:.3f} ×", f"at most {RATIO_MAX} ×", ratio <= RATIO_MAX))
    return figures, bars
