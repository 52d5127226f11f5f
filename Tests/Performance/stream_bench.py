"""Streams of 64-byte messages one way, from the server and to it: messages a second and core."""

import os
import statistics

from load import PREFIX_BYTES, Target, framed
from messages import int32_value, texts
from processes import listening_port, running
from report import Bar, Figure

SERVICE = "vestibule.bench.v1.BenchService"
MESSAGE_BYTES = 64
MESSAGES_PER_CALL = 10_000
RATE_MIN = 1_000_000
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


def measure(options, scratch):
    """Runs both directions in turn. Gives the figures and the bars."""
    log = os.path.join(scratch, "stream.log")
    runs = {"sent": [], "received": []}
    with running([f"{options.binaries}/bench-server", "echo"], log, core=options.server_core) as process:
        port = listening_port(process, log)
        targets = {"sent": _sending(process, port, scratch), "received": _receiving(process, port, scratch)}
        for target in targets.values():
            target.in_flight, target.h2load_options = STREAMS_PER_CONNECTION, WINDOWS
        calls = {name: target.calls_for(options.seconds, options.load_core) for name, target in targets.items()}
        for turn in range(options.rounds):
            for name, target in targets.items():
                one = target.load(calls[name], options.load_core)
                runs[name].append(one)
                options.say(
                    f"stream {turn + 1}/{options.rounds} {name:8} {one.calls_per_second * MESSAGES_PER_CALL:11,.0f} "
                    f"messages/s {one.server_ns_per_call / MESSAGES_PER_CALL:5.0f} ns")
    return _judge(runs)


def _judge(runs):
    figures, bars = [], []
    for name, some in runs.items():
        ns = statistics.median(run.server_ns_per_call for run in some) / MESSAGES_PER_CALL
        rate = statistics.median(run.calls_per_second for run in some) * MESSAGES_PER_CALL
        # What one core does if it does nothing else: h2load may be slower than the server.
        rate_per_core = 1e9 / ns
        figures.append(Figure(f"64-byte messages {name}", f"{rate:,.0f} messages/s", f"{ns / 1e3:.2f} µs", "each message"))
        bars.append(Bar(
            f"messages {name} a second and core", f"{rate_per_core:,.0f}", f"at least {RATE_MIN:,}",
            rate_per_core >= RATE_MIN))
    return figures, bars
