"""Unary echo through an async handler, ours and grpc-swift-2's: processor time and throughput on one core."""

import os
import statistics

from load import Target
from messages import texts
from processes import listening_port, running
from report import Bar, Figure

PATH = "vestibule.bench.v1.BenchService/Echo"
MESSAGE_BYTES = 63
CPU_US_MAX = 3.0
RATIO_MIN = 25.0


def message():
    """A google.protobuf.StringValue of 63 bytes: a tag, a length, and 61 letters."""
    text = "a message of sixty-three bytes, as protobuf writes it to the wire"[:MESSAGE_BYTES - 2]
    return texts((1, text))


def measure(options, scratch):
    """Runs ours and the peer in turn. Gives the figures and the bars."""
    servers = [
        ("ours", [f"{options.binaries}/bench-server", "echo"]),
        ("grpc-swift-2", [f"{options.peer_binaries}/echo-peer"]),
    ]
    runs = {name: [] for name, _ in servers}
    logs = {name: os.path.join(scratch, f"{name}.log") for name, _ in servers}
    with running(servers[0][1], logs["ours"], core=options.server_core) as ours, \
            running(servers[1][1], logs["grpc-swift-2"], core=options.server_core) as peer:
        targets = {}
        for name, process in (("ours", ours), ("grpc-swift-2", peer)):
            port = listening_port(process, logs[name])
            targets[name] = Target(process.pid, port, PATH, message(), MESSAGE_BYTES, scratch)
            targets[name].check(message())
        calls = {name: target.calls_for(options.seconds, options.load_core) for name, target in targets.items()}
        for turn in range(options.rounds):
            for name, target in targets.items():
                run = target.load(calls[name], options.load_core)
                runs[name].append(run)
                options.say(
                    f"echo {turn + 1}/{options.rounds} {name:13} {run.calls_per_second:9,.0f} calls/s "
                    f"{run.server_ns_per_call / 1e3:6.2f} µs  core with others {run.disturbed_share:4.0%}")
        for target in targets.values():
            target.check(message())
    return _judge(runs)


def _judge(runs):
    def median(name, field):
        return statistics.median(getattr(run, field) for run in runs[name])

    figures = [
        Figure(
            f"echo, {name}",
            f"{median(name, 'calls_per_second'):,.0f} calls/s",
            f"{median(name, 'server_ns_per_call') / 1e3:.2f} µs",
            f"mean latency {median(name, 'mean_latency_us'):,.0f} µs under full load")
        for name in runs
    ]
    cpu_us = median("ours", "server_ns_per_call") / 1e3
    ratio = median("ours", "calls_per_second") / median("grpc-swift-2", "calls_per_second")
    cpu_ratio = median("grpc-swift-2", "server_ns_per_call") / median("ours", "server_ns_per_call")
    bars = [
        Bar("server CPU for an echo", f"{cpu_us:.2f} µs", f"at most {CPU_US_MAX:.0f} µs", cpu_us <= CPU_US_MAX),
        Bar(
            "echo throughput over grpc-swift-2's", f"{ratio:.1f} × (CPU a call: {cpu_ratio:.1f} ×)",
            f"at least {RATIO_MIN:.0f} ×", ratio >= RATIO_MIN),
    ]
    disturbed = max(run.disturbed_share for name in runs for run in runs[name])
    return figures, bars, disturbed
