"""Unary echo through an async handler, ours, ours over TLS and grpc-swift-2's: processor time and throughput on one core.
"""

import contextlib
import os
import statistics

from load import Target
from messages import texts
from processes import listening_port, run, running
from report import Bar, Figure

OURS, ENCRYPTED, PEER = "ours", "ours, TLS 1.3", "grpc-swift-2"
PATH = "vestibule.bench.v1.BenchService/Echo"
MESSAGE_BYTES = 63
CPU_US_MAX = 3.0
RATIO_MIN = 25.0
# Over TLS 1.3, of the calls a second and core in clear text.
ENCRYPTED_SHARE_MIN = 0.6


def message():
    """A google.protobuf.StringValue of 63 bytes: a tag, a length, and 61 letters."""
    text = "a message of sixty-three bytes, as protobuf writes it to the wire"[:MESSAGE_BYTES - 2]
    return texts((1, text))


def certificate(scratch):
    """A certificate of its own for 127.0.0.1, and its key (P-256): the paths."""
    paths = os.path.join(scratch, "certificate.pem"), os.path.join(scratch, "key.pem")
    run([
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
        "-subj", "/CN=bench", "-addext", "subjectAltName=IP:127.0.0.1", "-out", paths[0], "-keyout", paths[1]])
    return paths


def measure(options, scratch):
    """Runs ours, in clear text and over TLS, and the peer in turn. Gives the figures and the bars."""
    servers = {
        OURS: [f"{options.binaries}/bench-server", "echo"],
        ENCRYPTED: [f"{options.binaries}/bench-server", "echo", *certificate(scratch)],
        PEER: [f"{options.peer_binaries}/echo-peer"],
    }
    runs = {name: [] for name in servers}
    with contextlib.ExitStack() as stack:
        targets = {}
        for name, command in servers.items():
            log = os.path.join(scratch, f"{name.replace(' ', '-')}.log")
            process = stack.enter_context(running(command, log, core=options.server_core))
            targets[name] = Target(
                process.pid, listening_port(process, log), PATH, message(), MESSAGE_BYTES, scratch, name == ENCRYPTED)
            targets[name].check(message())
        calls = {name: target.calls_for(options.seconds, options.load_core) for name, target in targets.items()}
        for turn in range(options.rounds):
            for name, target in targets.items():
                one = target.load(calls[name], options.load_core)
                runs[name].append(one)
                options.say(
                    f"echo {turn + 1}/{options.rounds} {name:13} {one.calls_per_second:9,.0f} calls/s "
                    f"{one.server_ns_per_call / 1e3:6.2f} µs  core with others {one.disturbed_share:4.0%}")
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
    cpu_us = median(OURS, "server_ns_per_call") / 1e3
    ratio = median(OURS, "calls_per_second") / median(PEER, "calls_per_second")
    cpu_ratio = median(PEER, "server_ns_per_call") / median(OURS, "server_ns_per_call")
    # By processor time: h2load, on the other core, has to encrypt as well and may be what holds it up.
    share = median(OURS, "server_ns_per_call") / median(ENCRYPTED, "server_ns_per_call")
    bars = [
        Bar("server CPU for an echo", f"{cpu_us:.2f} µs", f"at most {CPU_US_MAX:.0f} µs", cpu_us <= CPU_US_MAX),
        Bar(
            "echo throughput over grpc-swift-2's", f"{ratio:.1f} × (CPU a call: {cpu_ratio:.1f} ×)",
            f"at least {RATIO_MIN:.0f} ×", ratio >= RATIO_MIN),
        Bar(
            "echo a core over TLS 1.3, of clear text", f"{share:.0%}", f"at least {ENCRYPTED_SHARE_MIN:.0%}",
            share >= ENCRYPTED_SHARE_MIN),
    ]
    disturbed = max(run.disturbed_share for name in runs for run in runs[name])
    return figures, bars, disturbed
