"""Unary echo through an async handler: ours, ours over TLS, and the peers; plain, and with headers as real calls have."""

import contextlib
import os
import statistics

import peers
from h2load import Target
from messages import texts
from processes import listening_port, run, running, wait_until
from report import Bar, Figure

OURS, ENCRYPTED = "ours", "ours, TLS 1.3"
PATH = "vestibule.bench.v1.BenchService/Echo"
MESSAGE_BYTES = 63
# Processor time of a call over TLS 1.3, times that of one in clear text.
ENCRYPTED_TIMES_MAX = 1.3
# Calls a second, times the peer's: plain, and with five headers.
RATIOS_MIN = {"grpc-swift-2": (30, 25), "gRPC C++": (5, 4), "grpc-go": (3, 3)}
# Processor time of a call, times what nghttpd takes for a small file.
FILE_SHARE_MAX = 1
FIVE_HEADERS = [
    "authorization: Bearer " + "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9." * 8 + "0123456789",
    "grpc-timeout: 5S",
    "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "x-request-id: 0191d2c4-7b1e-7c3a-9d2f-5f3f6c1b2a3d",
    "accept-language: en-GB,en;q=0.9",
]


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


def _start(stack, options, scratch, peer):
    """Starts a server on its core, and gives the target that it is."""
    log = os.path.join(scratch, f"{peer.name.replace(' ', '-')}.log")
    process = stack.enter_context(running(peer.command, log, environment=peer.environment, core=options.server_core))
    if peer.is_grpc:
        target = Target(
            process.pid, listening_port(process, log), PATH, message(), MESSAGE_BYTES, scratch, peer.name == ENCRYPTED)
        target.check(message())
        return target
    target = Target(process.pid, peer.port, "small", None, peers.FILE_BYTES, scratch)
    wait_until(lambda: target.status() == 200, f"{peer.name} listens", 10)
    return target


def measure(options, scratch, others):
    """Runs ours and the peers in turn. Gives the figures, the bars, and how disturbed our runs were."""
    server = f"{options.binaries}/bench-server"
    servers = [
        peers.Peer(OURS, [server, "echo"]), peers.Peer(ENCRYPTED, [server, "echo", *certificate(scratch)]), *others]
    plain, loaded = {}, {}
    with contextlib.ExitStack() as stack:
        targets = {peer.name: _start(stack, options, scratch, peer) for peer in servers}
        for headers, runs in (([], plain), (FIVE_HEADERS, loaded)):
            chosen = {name: target for name, target in targets.items() if not headers or name in (OURS, *RATIOS_MIN)}
            for target in chosen.values():
                target.more_headers = headers
            calls = {name: target.calls_for(options.seconds, options.load_core) for name, target in chosen.items()}
            for turn in range(options.rounds):
                for name, target in chosen.items():
                    one = target.load(calls[name], options.load_core)
                    runs.setdefault(name, []).append(one)
                    options.say(
                        f"echo{' with headers' if headers else ''} {turn + 1}/{options.rounds} {name:13} "
                        f"{one.calls_per_second:9,.0f} calls/s {one.server_ns_per_call / 1e3:6.2f} µs  "
                        f"core with others {one.disturbed_share:4.0%}")
        for name, target in targets.items():
            if target.is_grpc:
                target.check(message())
    figures, bars = _judge(plain, loaded)
    return figures, bars, max(run.disturbed_share for run in plain[OURS])


def _median(runs, field):
    return statistics.median(getattr(run, field) for run in runs)


def _ratio_bar(runs, name, minimum, what):
    rate = _median(runs[OURS], "calls_per_second") / _median(runs[name], "calls_per_second")
    cpu = _median(runs[name], "server_ns_per_call") / _median(runs[OURS], "server_ns_per_call")
    return Bar(
        f"{what} over {name}'s", f"{rate:.1f} × (CPU a call: {cpu:.1f} ×)", f"at least {minimum} ×", rate >= minimum)


def _judge(plain, loaded):
    figures = [
        Figure(
            f"{what}, {name}", f"{_median(some, 'calls_per_second'):,.0f} calls/s",
            f"{_median(some, 'server_ns_per_call') / 1e3:.2f} µs",
            f"mean latency {_median(some, 'mean_latency_us'):,.0f} µs under full load")
        for what, runs in (("echo", plain), ("echo with five headers", loaded)) for name, some in runs.items()
    ]
    cpu_ns = _median(plain[OURS], "server_ns_per_call")
    # By processor time: h2load, on the other core, has to encrypt as well and may be what holds it up.
    encrypted = _median(plain[ENCRYPTED], "server_ns_per_call") / cpu_ns
    bars = [
        Bar(
            "CPU of an echo over TLS 1.3, over clear text's", f"{encrypted:.2f} ×", f"at most {ENCRYPTED_TIMES_MAX} ×",
            encrypted <= ENCRYPTED_TIMES_MAX),
    ]
    for name, minima in RATIOS_MIN.items():
        if name in plain:
            bars.append(_ratio_bar(plain, name, minima[0], "echo throughput"))
            bars.append(_ratio_bar(loaded, name, minima[1], "echo with five headers"))
    if "nghttpd" in plain:
        times = cpu_ns / _median(plain["nghttpd"], "server_ns_per_call")
        bars.append(Bar(
            "CPU of an echo over that of a small file by nghttpd", f"{times:.2f} ×", f"at most {FILE_SHARE_MAX} ×",
            times <= FILE_SHARE_MAX))
    return figures, bars
