"""A call with one indexed read, against pgbench's transactions on the same PostgreSQL server."""

import os
import re
import statistics

from h2load import Target
from messages import int32_value
from private_postgres import cpu_ns_between
from processes import BenchError, listening_port, running
from report import Bar, Figure

PATH = "vestibule.bench.v1.BenchService/Read"
SCALE = 10
ROWS = SCALE * 100_000
# Balances from a million on are all three bytes long in protobuf, so the size of an answer tells that it is one.
BALANCE_BASE = 1_000_000
ANSWER_BYTES = 4
RATIO_MIN = 2
DATABASE = "bench"


def prepare(postgres, say):
    """Makes pgbench's tables, with balances that tell which account was read."""
    say(f"pgbench: {ROWS:,} rows")
    postgres.sql(f"CREATE DATABASE {DATABASE}")
    postgres.pgbench("--initialize", f"--scale={SCALE}", "--quiet", database=DATABASE)
    postgres.sql(f"UPDATE pgbench_accounts SET abalance = {BALANCE_BASE} + aid", DATABASE)
    postgres.sql("VACUUM (FULL, ANALYZE) pgbench_accounts", DATABASE)
    # Reads the whole index and table once, so that they are in memory.
    if postgres.sql("SELECT count(*), min(abalance), max(abalance) FROM pgbench_accounts", DATABASE) != (
            f"{ROWS}|{BALANCE_BASE + 1}|{BALANCE_BASE + ROWS}"):
        raise BenchError("pgbench's table is not as it should be")
    postgres.sql("CHECKPOINT")


def check_accounts(target):
    """Reads some accounts and one that there is not."""
    for account in (1, 4_711, ROWS // 2, ROWS):
        target.check(int32_value(BALANCE_BASE + account), int32_value(account))
    status, _ = target.call(int32_value(ROWS + 1))
    if status != 5:
        raise BenchError(f"a missing account was answered with status {status} instead of 5")


def pgbench_rate(postgres, seconds):
    """Transactions a second of eight clients on two threads."""
    text = postgres.pgbench(
        "--no-vacuum", "--select-only", "--protocol=prepared", "--client=8", "--jobs=2", f"--time={seconds}",
        database=DATABASE)
    found = re.search(r"tps = ([\d.]+) \(without", text)
    if not found:
        raise BenchError(f"pgbench printed no rate: {text[-200:]}")
    return float(found[1])


def measure(options, scratch, postgres):
    """Runs ours and pgbench in turn, each with both cores to itself. Gives the figures and the bars."""
    prepare(postgres, options.say)
    log = os.path.join(scratch, "read.log")
    command = [f"{options.binaries}/bench-server", "read", postgres.socket_folder, DATABASE, str(ROWS)]
    runs, rates, database_ns = [], [], []
    with running(command, log) as process:
        target = Target(process.pid, listening_port(process, log), PATH, int32_value(0), ANSWER_BYTES, scratch)
        check_accounts(target)
        calls = target.calls_for(options.seconds)
        for turn in range(options.rounds):
            before = postgres.cpu_ns()
            runs.append(target.load(calls))
            database_ns.append(cpu_ns_between(before, postgres.cpu_ns()) / calls)
            rates.append(pgbench_rate(postgres, options.seconds))
            options.say(
                f"read {turn + 1}/{options.rounds} ours {runs[-1].calls_per_second:9,.0f} calls/s "
                f"{runs[-1].server_ns_per_call / 1e3:5.2f} µs + PostgreSQL {database_ns[-1] / 1e3:5.2f} µs   "
                f"pgbench {rates[-1]:9,.0f}/s")
        check_accounts(target)
    return _judge(runs, rates, database_ns)


def _judge(runs, rates, database_ns):
    rate = statistics.median(run.calls_per_second for run in runs)
    latency_us = statistics.median(run.mean_latency_us for run in runs)
    server_us = statistics.median(run.server_ns_per_call for run in runs) / 1e3
    ratio = rate / statistics.median(rates)
    figures = [
        Figure(
            "one indexed read, ours", f"{rate:,.0f} calls/s", f"{server_us:.2f} µs",
            f"PostgreSQL {statistics.median(database_ns) / 1e3:.2f} µs; "
            f"mean latency {latency_us:,.0f} µs under full load"),
        Figure("pgbench -S -M prepared -c 8 -j 2", f"{statistics.median(rates):,.0f} transactions/s", "", ""),
    ]
    bars = [Bar(
        "calls with a read over pgbench's transactions", f"{ratio:.2f} ×", f"at least {RATIO_MIN} ×",
        ratio >= RATIO_MIN)]
    return figures, bars
