#!/usr/bin/env python3
"""`make bench`: measures against the peers in one run, prints figures and verdicts, and writes bench.md.

Exit status: 0 if every bar was cleared, 1 if one was not, 2 if something could not be measured.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time

import connection_bench
import echo_bench
import memory_bench
import peers
import read_bench
import report
import stream_bench
from private_postgres import private_postgres
from processes import BenchError

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
# Above this share of a run the server's core was not its own, and throughput says little.
DISTURBED_SHARE_MAX = 0.05
TOOLS = {
    "h2load": "nghttp2-client",
    "curl": "curl",
    "openssl": "openssl",
    "pgbench": "postgresql (or postgresql-contrib)",
    "taskset": "util-linux",
}


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(description="Measures the RPC layer, a call with a read, and memory.")
    parser.add_argument("--only", default="echo,stream,connections,read,memory", help="what to measure (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each, of which the median counts (%(default)s)")
    parser.add_argument("--seconds", type=int, default=4, help="about the length of a run (%(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="parallel build jobs (%(default)s)")
    parser.add_argument("--binaries", help="a folder with built programs; without it they are built")
    parser.add_argument("--peer-binaries", help="a folder with the built peer; without it it is built")
    parser.add_argument("--nghttpd-port", type=int, default=7192, help="where nghttpd listens (%(default)s)")
    parser.add_argument("--identity-port", type=int, default=7191, help="where identity listens (%(default)s)")
    parser.add_argument("--report", default=os.path.join(ROOT, "bench.md"), help="the file to write")
    options = parser.parse_args()
    options.parts = options.only.split(",")
    unknown = set(options.parts) - {"echo", "stream", "connections", "read", "memory"}
    if unknown:
        parser.error(f"--only knows echo, stream, connections, read and memory, not {', '.join(sorted(unknown))}")
    if options.rounds < 1 or options.seconds < 1:
        parser.error("there must be a round, and it must last a second")
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
    if options.binaries is None:
        if "memory" in options.parts:
            options.binaries = peers.swift_build(options, ROOT, "identity")
        if {"echo", "stream", "connections", "read"} & set(options.parts):
            options.binaries = peers.swift_build(options, ROOT, "bench-server")


def measure(options, scratch):
    """Everything asked for: figures, bars, notes."""
    figures, bars, notes = [], [], []
    if "echo" in options.parts:
        some, cleared, missing, disturbed = echo_bench.measure(options, scratch)
        figures += some
        bars += cleared
        notes += missing
        notes.append(
            f"Echo: one event-loop thread each, server on core {options.server_core}, h2load on core "
            f"{options.load_core}, clear text, 8 connections with 32 calls in flight each, a 63-byte message.")
        if disturbed > DISTURBED_SHARE_MAX:
            notes.append(
                f"The machine was not quiet: for up to {disturbed:.0%} of a run other programs had the server's core. "
                "Throughput is too low then; the processor time of a call holds better.")
    if "stream" in options.parts:
        some, cleared = stream_bench.measure(options, scratch)
        figures += some
        bars += cleared
        notes.append("Streams: the same cores, 8 connections with two streams each, 10,000 messages a stream.")
    if "connections" in options.parts:
        some, cleared = connection_bench.measure(options, scratch)
        figures += some
        bars += cleared
    if "read" in options.parts or "memory" in options.parts:
        with private_postgres(os.path.join(scratch, "pg")) as postgres:
            notes.append(f"PostgreSQL {postgres.sql('SHOW server_version')}, a server of its own on a unix socket.")
            for name, part in (("read", read_bench), ("memory", memory_bench)):
                if name in options.parts:
                    some, cleared = part.measure(options, scratch, postgres)
                    figures += some
                    bars += cleared
        if "read" in options.parts:
            notes.append(
                "Read: the same load, one prepared SELECT by primary key in a million rows for each call, accounts "
                "spread evenly; no program is pinned, ours and pgbench have all cores in turn.")
    return figures, bars, notes


def main():
    """Measures and tells."""
    options = parse_options()
    try:
        check_machine(options)
        build_all(options)
        start = time.monotonic()
        # Directly under /tmp: the path of a unix socket has to be short.
        with tempfile.TemporaryDirectory(prefix="vestibule-bench-", dir="/tmp") as scratch:
            os.chmod(scratch, 0o711)  # PostgreSQL's user passes through, and sees nothing
            figures, bars, notes = measure(options, scratch)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    print("", *report.figures_table(figures), "", *report.bars_table(bars), "", *notes, sep="\n")
    report.write(options.report, options, figures, bars, notes)
    print(f"\nmeasured in {time.monotonic() - start:.0f} s; written to {options.report}")
    return 0 if all(bar.is_cleared for bar in bars) else 1


if __name__ == "__main__":
    sys.exit(main())
