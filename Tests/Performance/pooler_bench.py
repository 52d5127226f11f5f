#!/usr/bin/env python3
"""What PgBouncer costs: CheckSession and refreshes by way of it in each mode, beside direct connections, in turns of one run.

    .venv/bin/python Tests/Performance/pooler_bench.py [--seconds 5] [--turns 3]

VESTIBULE_BINARIES names the folder of the programs; without it, .build/release, which `make build` makes.
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "Tests/EndToEnd"))
os.environ.setdefault("VESTIBULE_BINARIES", str(ROOT / ".build/release"))

import pgbouncer
from parts import Parts
from stack import new_stack, program

SCENARIOS = ("check-session", "refresh")
MODES = ("direct", "session", "transaction")
WORKERS = 32


def measure(parts, scenario, seconds):
    """Calls per second."""
    name = parts.stack.folder.parent / "load"
    result = subprocess.run(
        [program("vestibule"), "load", scenario, "--duration", f"{seconds}s", "--warm-up", "1s", "--workers", str(WORKERS),
         "--accounts", "64", "--identity", parts.stack.addresses["identity"], "--simulator", f"http://{parts.stack.addresses['simulator']}",
         "--output", str(name)], capture_output=True, text=True, env=parts.stack.environment)
    if result.returncode != 0:
        sys.exit(f"{scenario}: {result.stdout}\n{result.stderr}")
    return json.loads(name.with_suffix(".json").read_text())["total"]["succeeded_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    rates = {(mode, scenario): [] for mode in MODES for scenario in SCENARIOS}
    with new_stack() as stack:
        parts = Parts(stack)
        parts.expect_back()
        plain = {**{key: parts.setting("identity", key) for key in ("VESTIBULE_DATABASE_HOST", "VESTIBULE_DATABASE_PORT")},
                 "VESTIBULE_DATABASE_POOLER": "none"}
        with pgbouncer.running(parts, "session") as session, pgbouncer.running(parts, "transaction") as transaction:
            for _ in range(given.turns):
                for mode, settings in zip(MODES, (plain, session, transaction)):
                    parts.end("identity", signal.SIGTERM)
                    parts.configure("identity", **settings)
                    parts.expect_back()
                    for scenario in SCENARIOS:
                        rates[mode, scenario].append(measure(parts, scenario, given.seconds))
        for name in parts.running:
            parts.kill(name)
    version = subprocess.run(["pgbouncer", "--version"], capture_output=True, text=True, env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"})
    print(f"{version.stdout.splitlines()[0]}; {WORKERS} workers, {given.turns} turns of {given.seconds} s, medians; direct is 1")
    print(f"{'':14}" + "".join(f"{mode:>34}" for mode in MODES))
    for scenario in SCENARIOS:
        base = statistics.median(rates["direct", scenario])
        row = f"{scenario:14}"
        for mode in MODES:
            rate = statistics.median(rates[mode, scenario])
            row += f"{rate:>20,.0f} calls/s, {rate / base:>4.2f}"
        print(row)


if __name__ == "__main__":
    main()
