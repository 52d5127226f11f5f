"""Streams of 64-byte messages one way, from the server and to it, beside nghttpd that answers a small file."""

import contextlib
import os
import statistics

import peers
from h2load import PREFIX_BYTES, Target, framed
from messages import int32_value, texts
from processes import listening_port, running, wait_until
from report import Bar, Figure

SERVICE = "vestibule.bench.v1.BenchService"
MESSAGE_BYTES = 64
MESSAGES_PER_CALL = 10_000
FILE = "a file"
# Processor time of a message, times what nghttpd takes for a small file.
FILE_SHARE_MAX = 0.3
# A few streams at once keep both sides busy; each is long.
STREAMS_PER_CONNECTION = 2
# Bits of flow control of a stream and a connection: wide enough for h2load not to be waited for.
WINDOWS = ["--window-bits=20", "--connection-window-bits=24"]


def _sending(process, port, scratch):
    """Each call asks for so many messages."""
    answer = MESSAGES_PER_CALL * (PREFIX_BYTES + MESSAGE_BYTES) - PREFIX_BYTES
    return Target(process.pid, port, f"{SERVICE}/Send", int32_value(MESSAGES_PER_CALL), answer, scratch)


def _receiving(process, port, scratch):
    """Each call sends so many messages, and the answer is their number."""
    message = texts((1, "m" * (MESSAGE_BYTES - 2)))
    answer = int32_value(MESSAGES_PER_CALL)
    target = Target(process.pid, port, f"{SERVICE}/Receive", message, len(answer), scratch)
    with open(target.request_path, "wb") as file:
        file.write(framed(message) * MESSAGES_PER_CALL)
    return target


def _file(stack, options, scratch):
    peer = peers.nghttpd(options, scratch)
    process = stack.enter_context(
        running(peer.command, os.path.join(scratch, "stream-nghttpd.log"), core=options.server_core))
    target = Target(process.pid, peer.port, "small", None, peers.FILE_BYTES, scratch)
    wait_until(lambda: target.status() == 200, f"{peer.name} listens", 10)
    return target


def measure(options, scratch):
    """Runs both directions and nghttpd in turn. Gives the figures and the bars."""
    log = os.path.join(scratch, "stream.log")
    with contextlib.ExitStack() as stack:
        process = stack.enter_context(
            running([f"{options.binaries}/bench-server", "echo"], log, core=options.server_core))
        port = listening_port(process, log)
        targets = {"sent": _sending(process, port, scratch), "received": _receiving(process, port, scratch)}
        for target in targets.values():
            target.in_flight, target.h2load_options = STREAMS_PER_CONNECTION, WINDOWS
        targets[FILE] = _file(stack, options, scratch)
        calls = {name: target.calls_for(options.seconds, options.load_core) for name, target in targets.items()}
        runs = {name: [] for name in targets}
        for turn in range(options.rounds):
            for name, target in targets.items():
                one = target.load(calls[name], options.load_core)
                runs[name].append(one)
                options.say(
                    f"stream {turn + 1}/{options.rounds} {name:8} {one.calls_per_second * _messages(name):11,.0f} a second "
                    f"{one.server_ns_per_call / _messages(name):5.0f} ns")
    return _judge(runs)


def _messages(name):
    return 1 if name == FILE else MESSAGES_PER_CALL


def _judge(runs):
    figures, bars = [], []
    file_ns = statistics.median(run.server_ns_per_call for run in runs[FILE])
    for name, some in runs.items():
        if name == FILE:
            continue
        ns = statistics.median(run.server_ns_per_call for run in some) / MESSAGES_PER_CALL
        rate = statistics.median(run.calls_per_second for run in some) * MESSAGES_PER_CALL
        figures.append(Figure(f"64-byte messages {name}", f"{rate:,.0f} messages/s", f"{ns / 1e3:.2f} µs", "each message"))
        bars.append(Bar(
            f"CPU of a message {name} over that of a small file by nghttpd", f"{ns / file_ns:.2f} ×",
            f"at most {FILE_SHARE_MAX} ×", ns <= FILE_SHARE_MAX * file_ns))
    return figures, bars
