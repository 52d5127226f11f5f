#!/usr/bin/env python3
"""`make bench`: measures against the peers in one run, prints figures and verdicts, and writes bench.md.

Exit status: 0 if every bar was cleared, 1 if one was not, 2 if something could not be measured.
"""

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
import time

import bound_bench
import claims_bench
import connection_bench
import counts_bench
import deletion_bench
import echo_bench
import edge_bench
import envoy_peer
import gateway_revocation_bench
import groups_bench
import import_bench
import instruction_bench
import memory_bench
import million_bench
import mixed_bench
import openid_bench
import passkey_bench
import peers
import read_bench
import refresh_bench
import report
import revocation_bench
import rows_bench
import scale_bench
import session_bench
import session_instructions
import sign_in_bench
import sign_in_cost_bench
import size_bench
import stream_bench
import syscall_bench
import watch_bench
from private_postgres import private_postgres
from processes import BenchError
from service_stack import service_stack

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
# Above this share of a run the server's core was not its own, and throughput says little.
DISTURBED_SHARE_MAX = 0.05
# In the order in which they are measured.
PARTS = (
    "mixed", "echo", "instructions", "stream", "connections", "read", "session-instructions", "session", "refresh", "million",
    "revocations", "sign-in", "sign-in-cost", "passkey", "bound", "openid", "deletions", "import", "watch", "claims", "groups", "rows", "memory", "edge",
    "scale", "syscalls", "counts", "size")
# The rows of README.
QUICK_PARTS = ("echo", "session", "refresh", "edge")
QUICK_ROUNDS, QUICK_SECONDS = 1, 2
# What needs the whole stack, and what needs the benchmark's own server.
STACK_PARTS = {
    "mixed", "session-instructions", "session", "refresh", "million", "revocations", "sign-in", "sign-in-cost", "passkey", "bound", "openid", "deletions",
    "import", "watch", "claims", "groups", "rows", "memory", "edge", "scale", "syscalls", "counts", "size"}
# What needs tokens of sessions that nobody signed in for.
SESSION_PARTS = {"session-instructions", "session", "refresh", "million", "claims", "rows"}
SERVER_PARTS = {"echo", "instructions", "stream", "connections", "read", "edge", "syscalls"}
TOOLS = {
    "h2load": "nghttp2-client",
    "curl": "curl",
    "openssl": "openssl",
    "pgbench": "postgresql (or postgresql-contrib)",
    "psql": "postgresql-client",
    "taskset": "util-linux",
    "strip": "binutils",
    "ss": "iproute2",
    "strace": "strace",
    "valgrind": "valgrind",
}


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(
        description="Measures the RPC layer, the services and their peers in one run, and writes what came of it.")
    parser.add_argument(
        "--quick", action="store_true",
        help=f"only the rows of README ({','.join(QUICK_PARTS)}), one short run of each; --only, --rounds and --seconds still count")
    parser.add_argument("--only", default=None, help=f"what to measure ({','.join(PARTS)})")
    parser.add_argument("--rounds", type=int, default=None, help="runs of each, of which the median counts (3)")
    parser.add_argument("--seconds", type=int, default=None, help="about the length of a run (4)")
    parser.add_argument(
        "--mixed-minutes", type=float, default=10, help="the length of the mixed load (%(default)s)")
    parser.add_argument(
        "--revocations", type=int, default=10_000, help="sessions that are ended one by one (%(default)s)")
    parser.add_argument(
        "--deletions", type=int, default=100_000, help="accounts that are deleted (%(default)s)")
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows that the large tables have (%(default)s)")
    parser.add_argument("--imports", type=int, default=1_000_000, help="accounts that are imported (%(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="parallel build jobs (%(default)s)")
    parser.add_argument("--binaries", help="a folder with built programs; without it they are built")
    parser.add_argument("--peer-binaries", help="a folder with the built Swift peers; without it they are built")
    parser.add_argument(
        "--against", help="a folder with the programs of an older version, whose instructions, processor time, memory and size "
        "are bars")
    parser.add_argument(
        "--build-against", help="a commit, against whose clean release build that of this one is timed, with all cores")
    parser.add_argument("--nghttpd-port", type=int, default=7192, help="where nghttpd listens (%(default)s)")
    parser.add_argument("--report", default=os.path.join(ROOT, "bench.md"), help="the file to write")
    options = parser.parse_args()
    options.only = options.only or ",".join(QUICK_PARTS if options.quick else PARTS)
    options.rounds = options.rounds if options.rounds is not None else QUICK_ROUNDS if options.quick else 3
    options.seconds = options.seconds if options.seconds is not None else QUICK_SECONDS if options.quick else 4
    options.parts = options.only.split(",")
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"--only knows {', '.join(PARTS)}, not {', '.join(sorted(unknown))}")
    if options.rounds < 1 or options.seconds < 1 or options.mixed_minutes <= 0 or options.revocations < 1 \
            or options.deletions < 1 or options.imports < 1 or options.rows <= rows_bench.FEW:
        parser.error("there must be a round, it must last a second, the mixed load some time, a revocation, a deletion, an import, and "
                     f"more than {rows_bench.FEW} rows")
    options.root = ROOT
    options.say = lambda text: print(text, flush=True)
    return options


def check_machine(options):
    """Two cores and the tools, or one clear line."""
    for tool, package in TOOLS.items():
        if shutil.which(tool) is None:
            raise BenchError(f"{tool} is missing: install the package {package}")
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise BenchError("one core is not enough: the server and the load need one each")
    options.server_core, options.load_core = cores[:2]


def build_all(options):
    """Builds what has not been given."""
    if options.binaries is not None:
        return
    if SERVER_PARTS & set(options.parts):
        options.binaries = peers.swift_build(options, ROOT, "--product", "bench-server")
    if SESSION_PARTS & set(options.parts):
        options.binaries = peers.swift_build(options, ROOT, "--product", "bench-sessions")
    if STACK_PARTS & set(options.parts):
        options.binaries = peers.swift_build(options, ROOT, "--target", "programs")
    if "revocations" in options.parts:
        options.binaries = peers.swift_build(options, ROOT, "--product", "revocation-consumer")


class Results:
    """What was measured so far."""

    def __init__(self):
        self.figures = []
        self.bars = []
        self.notes = []

    def add(self, figures, bars, notes=()):
        """Takes what a part gives."""
        self.figures += figures
        self.bars += bars
        self.notes += notes


def prepare_peers(options, scratch):
    """Builds and fetches the peers: those there are, and notes on the others."""
    if "session" in options.parts:
        with contextlib.suppress(BenchError):  # told where it is missed
            envoy_peer.program()
    return peers.available(options, scratch) if "echo" in options.parts else ([], [])


def measure_mixed(options, scratch, results):
    """The mixed load, if it is asked for, and meanwhile the peers."""
    if "mixed" not in options.parts:
        return prepare_peers(options, scratch)
    with mixed_bench.mixed_load(options, scratch) as mixed:
        found = prepare_peers(options, scratch)
        results.add(*mixed.result(options.say))
    return found


def measure_echo(options, scratch, results, others, missing):
    """Echo beside the peers."""
    figures, bars, disturbed = echo_bench.measure(options, scratch, others)
    results.add(figures, bars, missing)
    results.notes.append(
        f"Echo: one event-loop thread each, server on core {options.server_core}, h2load on core "
        f"{options.load_core}, clear text, 8 connections with 32 calls in flight each, a 63-byte message.")
    if disturbed > DISTURBED_SHARE_MAX:
        results.notes.append(
            f"The machine was not quiet: for up to {disturbed:.0%} of a run other programs had the server's core. "
            "Throughput is too low then; the processor time of a call holds better.")


def measure_read(options, scratch, results):
    """A call with a read, beside pgbench."""
    with private_postgres(os.path.join(scratch, "pg")) as postgres:
        results.add(*read_bench.measure(options, scratch, postgres))
        version = postgres.sql("SHOW server_version")
    results.notes.append(
        f"Read: PostgreSQL {version}, a server of its own on a unix socket; the same load, one row by primary key out of "
        "a million for each call, accounts spread evenly; no program is pinned, ours and pgbench have all cores in turn.")


def measure(options, scratch):
    """Everything asked for."""
    results = Results()
    others, missing = measure_mixed(options, scratch, results)
    if "echo" in options.parts:
        measure_echo(options, scratch, results, others, missing)
    if "instructions" in options.parts:
        results.add(*instruction_bench.measure(options, scratch))
    if "session-instructions" in options.parts:
        results.add(*session_instructions.measure(options, scratch))
    if "stream" in options.parts:
        results.add(*stream_bench.measure(options, scratch), [
            "Streams: the same cores, 8 connections with two streams each, 10,000 messages a stream; beside them nghttpd "
            "answers a small file, and a message counts against a file."])
    if "connections" in options.parts:
        results.add(*connection_bench.measure(options, scratch))
    if "read" in options.parts:
        measure_read(options, scratch, results)
    if "session" in options.parts:
        results.add(*session_bench.measure(options, scratch))
    if {"refresh", "memory"} & set(options.parts):
        with service_stack(options, os.path.join(scratch, "stack")) as stack:
            # Memory first: it is that of services that nobody has called yet.
            if "memory" in options.parts:
                results.add(*memory_bench.measure(options, scratch, stack))
            if "refresh" in options.parts:
                results.add(*refresh_bench.measure(options, scratch, stack))
    if "revocations" in options.parts:
        results.add(*revocation_bench.measure(options, scratch))
        results.add(*gateway_revocation_bench.measure(options, scratch))
    if "sign-in" in options.parts:
        results.add(*sign_in_bench.measure(options, scratch))
    if "sign-in-cost" in options.parts:
        results.add(*sign_in_cost_bench.measure(options, scratch))
    if "passkey" in options.parts:
        results.add(*passkey_bench.measure(options, scratch))
    if "bound" in options.parts:
        results.add(*bound_bench.measure(options, scratch))
    if "openid" in options.parts:
        results.add(*openid_bench.measure(options, scratch))
    if "deletions" in options.parts:
        results.add(*deletion_bench.measure(options, scratch))
    if "import" in options.parts:
        results.add(*import_bench.measure(options, scratch))
    if "watch" in options.parts:
        results.add(*watch_bench.measure(options, scratch))
    for name, part in (("claims", claims_bench), ("groups", groups_bench), ("rows", rows_bench)):
        if name in options.parts:
            results.add(*part.measure(options, scratch))
    if "million" in options.parts:
        results.add(*million_bench.measure(options, scratch))
    if "edge" in options.parts:
        results.add(*edge_bench.measure(options, scratch))
    if "scale" in options.parts:
        results.add(*scale_bench.measure(options, scratch))
    if "syscalls" in options.parts:
        results.add(*syscall_bench.measure(options, scratch))
    if "counts" in options.parts:
        results.add(*counts_bench.measure(options, scratch))
    if "size" in options.parts:
        results.add(*size_bench.measure(options, scratch))
    return results


def main():
    """Measures and tells."""
    options = parse_options()
    try:
        check_machine(options)
        start = time.monotonic()
        build_all(options)
        # Directly under /tmp: the path of a unix socket has to be short.
        with tempfile.TemporaryDirectory(prefix="vestibule-bench-", dir="/tmp") as scratch:
            os.chmod(scratch, 0o711)  # PostgreSQL's user passes through, and sees nothing
            results = measure(options, scratch)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    minutes = (time.monotonic() - start) / 60
    report.write(options.report, options, results)
    print("", *report.figures_table(results.figures), "", *report.bars_table(results.bars), "", *results.notes, sep="\n")
    print(f"\n{minutes:.0f} minutes with what had to be built; written to {options.report}")
    return 0 if all(bar.is_cleared for bar in results.bars) else 1


if __name__ == "__main__":
    sys.exit(main())
