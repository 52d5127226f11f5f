"""The edge against servers that do less: nginx and Go's net/http and Hummingbird with a fixed JSON; `GET /me` with its two calls
to services; Connect against gRPC; and the whole beside an older version (`--against`).

All servers are on one core, the load is on the other. Every server is sent the same access token, which only ours looks at.
Processor time is the server's own, user and system, as the kernel counts it.
"""

import contextlib
import dataclasses
import os
import statistics

import http_peers
from echo_bench import MESSAGE_BYTES, PATH as ECHO, certificate, message
from h2load import Target
from http_peers import GO, HUMMINGBIRD, NGINX
from processes import BenchError, cpu_and_waiting_ns, listening_port, run, running
from report import Bar, Figure
from service_stack import service_stack

OURS, BY_ROW, BEFORE = "ours", "ours, by row", "before"
HTTP1, HTTP2, TLS = "HTTP/1.1", "HTTP/2", "TLS 1.3"
# Processor time of a request to our route, over the peer's; of HTTP/2 and TLS over that of HTTP/1.1 in clear text.
ROUTE_TIMES_MAX = {NGINX: 1.3, GO: 0.5, HUMMINGBIRD: 0.3}
PROTOCOL_TIMES_MAX = {HTTP2: 1.15, TLS: 1.3}
# `GET /me`: the gateway's processor time over Go's from memory, that of all three programs over the version before and over the same
# programs that ask identity with each request, and the median of one at a time over nginx's.
GATEWAY_TIMES_MAX, PROGRAMS_TIMES_MAX, BY_ROW_TIMES_MAX, LATENCY_TIMES_MAX = 1.1, 0.3, 0.5, 4
CONNECT_TIMES_MAX = {"Connect, binary": 1.2, "Connect, JSON": 2}
PROGRAMS = ("gateway", "identity", "profile")
# Calls that are made one after the other for a median.
CALLS_ALONE = 4_000
# Workers of `vestibule load --gateway`, which opens a connection for each; to compare with h2load's figures for the same route.
LOAD_WORKERS = 32


@dataclasses.dataclass
class Me:
    """`GET /me` of a version: processor time of a request in each program, at 32 connections, and the median alone."""
    cpu_us: dict
    requests_per_second: float
    mean_us: float
    alone_us: float

    @property
    def all_cpu_us(self):
        """Of all three programs."""
        return sum(self.cpu_us.values())


def _median(values):
    return statistics.median(values)


# ---- A route that answers from memory ----

def _start_ours(stack, options, scratch, paths):
    """Our server in clear text and over TLS: its targets by protocol, and those of Echo by gRPC and Connect."""
    targets = {}
    for name, arguments in ((HTTP1, []), (TLS, paths)):
        log = os.path.join(scratch, f"edge-{len(arguments)}.log")
        process = stack.enter_context(
            running([f"{options.binaries}/bench-server", "edge", *arguments], log, core=options.server_core))
        port = listening_port(process, log)
        header = [f"authorization: Bearer {process.stdout.readline().decode().split()[-1]}"]
        protocols = [TLS] if arguments else [HTTP1, HTTP2]
        for protocol in protocols:
            found = http_peers.target(process.pid, port, scratch, bool(arguments), protocol != HTTP2)
            if found.status() != 401:
                raise BenchError("our route answers without a token")
            found.more_headers = header
            http_peers.check(found)
            targets[protocol] = found
        if not arguments:
            targets |= _echo_targets(process.pid, port, scratch)
    return targets, header


def _echo_targets(process_id, port, scratch):
    """Echo by gRPC and by Connect, over HTTP/2 with as many calls in flight as in the other echo."""
    text = message()[2:].decode()
    as_json = f'"{text}"'.encode()
    targets = {"gRPC": Target(process_id, port, ECHO, message(), MESSAGE_BYTES, scratch)}
    targets["gRPC"].check(message())
    for name, body, kind in (
            ("Connect, binary", message(), "application/proto"), ("Connect, JSON", as_json, "application/json")):
        targets[name] = Target(process_id, port, ECHO, body, len(body), scratch, content_type=kind)
        http_peers.check(targets[name], body)
    return targets


def _all_targets(ours, others):
    named = {(OURS, kind): target for kind, target in ours.items()}
    for name, peer in others.items():
        named |= {
            (name, kind): target for kind, target in ((HTTP1, peer.http1), (HTTP2, peer.http2), (TLS, peer.tls))
            if target is not None}
    return named


def _measure_routes(options, targets):
    """Each in turn: runs by name and protocol."""
    runs = {}
    calls = {key: target.calls_for(options.seconds, options.load_core) for key, target in targets.items()}
    for turn in range(options.rounds):
        for key, target in targets.items():
            one = target.load(calls[key], options.load_core)
            runs.setdefault(key, []).append(one)
            options.say(
                f"edge {turn + 1}/{options.rounds} {key[0]:12} {key[1]:16} {one.calls_per_second:9,.0f} requests/s "
                f"{one.server_ns_per_call / 1e3:6.2f} µs  core with others {one.disturbed_share:4.0%}")
    return {key: _median(run.server_ns_per_call for run in some) / 1e3 for key, some in runs.items()}, {
        key: _median(run.calls_per_second for run in some) for key, some in runs.items()}


def _judge_routes(cpu_us, rates):
    figures = [
        Figure(
            f"echo, {kind}" if kind in CONNECT_TIMES_MAX or kind == "gRPC" else f"a small JSON, {kind}, {name}",
            f"{rates[name, kind]:,.0f} requests/s", f"{cpu:.2f} µs", "")
        for (name, kind), cpu in cpu_us.items()
    ]
    ours = cpu_us[OURS, HTTP1]
    bars = []
    for name, times_max in ROUTE_TIMES_MAX.items():
        if (name, HTTP1) in cpu_us:
            times = ours / cpu_us[name, HTTP1]
            bars.append(Bar(
                f"CPU of a JSON route (token, log line, metrics) over {name}'s fixed JSON", f"{times:.2f} ×",
                f"at most {times_max} ×", times <= times_max))
    for kind, times_max in PROTOCOL_TIMES_MAX.items():
        times = cpu_us[OURS, kind] / ours
        beside = f"; nginx's {cpu_us[NGINX, kind] / cpu_us[NGINX, HTTP1]:.2f} ×" if (NGINX, kind) in cpu_us else ""
        bars.append(Bar(
            f"CPU of the JSON route over {kind}, over HTTP/1.1's", f"{times:.2f} ×{beside}", f"at most {times_max} ×",
            times <= times_max))
    for kind, times_max in CONNECT_TIMES_MAX.items():
        times = cpu_us[OURS, kind] / cpu_us[OURS, "gRPC"]
        bars.append(Bar(
            f"CPU of an echo by {kind}, over gRPC's", f"{times:.2f} ×", f"at most {times_max} ×", times <= times_max))
    return figures, bars


# ---- GET /me ----

@contextlib.contextmanager
def me_stack(options, folder, binaries, **settings):
    """A stack on the server's core, with a target that is `GET /me` of somebody who has just signed in."""
    # One thread for one core, as an operator would configure it; a log line for each call, the default.
    with service_stack(options, folder, binaries, VESTIBULE_EVENT_LOOPS="1", VESTIBULE_LOG_CALLS="all", **settings) as stack:
        for name in (*PROGRAMS, "postgres"):
            stack.pin(name, options.server_core)
        target = http_peers.target(stack.process_of("gateway"), stack.ports["gateway"], folder, path="me", answer_bytes=0)
        target.more_headers = [f"authorization: Bearer {stack.access_token()}"]
        target.answer_bytes = len(target.answer())
        yield stack, target


def _measure_me(options, stack, target, requests):
    ids = {name: stack.process_of(name) for name in PROGRAMS}
    before = {name: cpu_and_waiting_ns(process_id)[0] for name, process_id in ids.items()}
    one = target.load(requests, options.load_core)
    cpu_us = {
        name: (cpu_and_waiting_ns(process_id)[0] - before[name]) / requests / 1e3 for name, process_id in ids.items()}
    return Me(
        cpu_us, one.calls_per_second, one.mean_latency_us, target.median_latency_us(CALLS_ALONE, options.load_core))


def _measure_all_me(options, scratch, others):
    """`GET /me` of ours and the version before, and the peers' fixed answers one at a time, in turn."""
    versions = {OURS: (options.binaries, {}), BY_ROW: (options.binaries, {"VESTIBULE_GATEWAY_CHECK": "row"})}
    if options.against:
        versions[BEFORE] = (options.against, {})
    found, alone, loads = {}, {}, []
    with contextlib.ExitStack() as stack:
        stacks = {
            name: stack.enter_context(me_stack(options, os.path.join(scratch, f"me-{place}"), binaries, **settings))
            for place, (name, (binaries, settings)) in enumerate(versions.items())}
        requests = {name: target.calls_for(options.seconds, options.load_core) for name, (_, target) in stacks.items()}
        for turn in range(options.rounds):
            for name, (running_stack, target) in stacks.items():
                me = _measure_me(options, running_stack, target, requests[name])
                found.setdefault(name, []).append(me)
                options.say(
                    f"GET /me {turn + 1}/{options.rounds} {name:12} {me.requests_per_second:7,.0f} requests/s  "
                    + "  ".join(f"{program} {cpu:.1f} µs" for program, cpu in me.cpu_us.items())
                    + f"  alone {me.alone_us:.0f} µs")
            for name in (NGINX, GO):
                if name in others:
                    alone.setdefault(name, []).append(
                        others[name].http1.median_latency_us(CALLS_ALONE, options.load_core))
                    options.say(f"alone   {turn + 1}/{options.rounds} {name:12} {alone[name][-1]:.0f} µs")
            loads.append(_load_edge(options, stacks[OURS][0]))
    return found, {name: _median(values) for name, values in alone.items()}, loads


def _load_edge(options, stack):
    """Our own load generator's figures for the same route: (requests per second, p50 in microseconds)."""
    report = stack.load(
        "check-session", core=options.load_core, gateway=f"http://{stack.addresses['gateway']}",
        accounts=LOAD_WORKERS, duration=f"{options.seconds}s", warm_up="1s", workers=LOAD_WORKERS)["total"]
    return report["succeeded_per_second"], report["latency_ns"]["p50"] / 1e3


def _judge_me(found, alone, loads, go_cpu_us):
    figures, medians = [], {}
    for name, some in found.items():
        cpu = {program: _median(me.cpu_us[program] for me in some) for program in PROGRAMS}
        medians[name] = (cpu, _median(me.all_cpu_us for me in some), _median(me.alone_us for me in some))
        told = ", ".join(f"{program} {value:.1f} µs" for program, value in cpu.items())
        figures.append(Figure(
            f"GET /me, 32 connections, {name}", f"{_median(me.requests_per_second for me in some):,.0f} requests/s",
            f"{medians[name][1]:.1f} µs", f"{told}; mean latency {_median(me.mean_us for me in some):,.0f} µs"))
        figures.append(Figure(f"GET /me, one at a time, {name}", f"p50 {medians[name][2]:.0f} µs", "", ""))
    figures += [Figure(f"a small JSON, one at a time, {name}", f"p50 {value:.0f} µs", "", "") for name, value in alone.items()]
    rate, p50_us = (_median(values) for values in zip(*loads))
    figures.append(Figure(
        f"GET /me by vestibule load --gateway, {LOAD_WORKERS} workers", f"{rate:,.0f} requests/s", "", f"p50 {p50_us:,.0f} µs"))
    bars = []
    cpu, programs, alone_us = medians[OURS]
    if go_cpu_us:
        times = cpu["gateway"] / go_cpu_us
        bars.append(Bar(
            "CPU of the gateway for GET /me, over Go's net/http from memory", f"{times:.2f} ×",
            f"at most {GATEWAY_TIMES_MAX} ×", times <= GATEWAY_TIMES_MAX))
    times = programs / medians[BY_ROW][1]
    bars.append(Bar(
        "CPU of gateway, identity and profile for GET /me, over the same with VESTIBULE_GATEWAY_CHECK=row", f"{times:.2f} ×",
        f"at most {BY_ROW_TIMES_MAX} ×", times <= BY_ROW_TIMES_MAX))
    if BEFORE in medians:
        times = programs / medians[BEFORE][1]
        bars.append(Bar(
            "CPU of gateway, identity and profile for GET /me, over the version before", f"{times:.2f} ×",
            f"at most {PROGRAMS_TIMES_MAX} ×", times <= PROGRAMS_TIMES_MAX))
    if NGINX in alone:
        times = alone_us / alone[NGINX]
        bars.append(Bar(
            "GET /me, one at a time, p50 over nginx's fixed JSON", f"{times:.1f} ×", f"at most {LATENCY_TIMES_MAX} ×",
            times <= LATENCY_TIMES_MAX))
    return figures, bars


def measure(options, scratch):
    """Gives the figures, the bars and notes."""
    with contextlib.ExitStack() as stack:
        paths = certificate(scratch)
        others, notes = http_peers.enter_all(stack, options, scratch, paths)
        ours, header = _start_ours(stack, options, scratch, paths)
        for peer in others.values():
            for target in filter(None, (peer.http1, peer.http2, peer.tls)):
                target.more_headers = header
        cpu_us, rates = _measure_routes(options, _all_targets(ours, others))
        figures, bars = _judge_routes(cpu_us, rates)
        more = _judge_me(*_measure_all_me(options, scratch, others), cpu_us.get((GO, HTTP1)))
    notes.append(
        "Edge: 32 connections with one request at a time each, for Connect and gRPC 8 with 32 calls in flight; `GET /me` has "
        "gateway, identity, profile and PostgreSQL on the server's core, one event loop each, with a log line for every call.")
    return figures + more[0], bars + more[1], notes
