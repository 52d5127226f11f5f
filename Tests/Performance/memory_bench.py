"""The resident memory of idle services, and of identity after calls."""

import time

from h2load import Target
from messages import texts
from processes import resident_bytes
from report import Bar, Figure
from session_bench import ANSWER_BYTES_SPREAD, CHECK_SESSION

RESIDENT_BYTES_MAX = 25_000_000
SETTLE_SECONDS = 5
CALLS = 1000
SERVICES = ("identity", "profile", "invites")


def measure(options, scratch, stack):
    """Reads the memory of a stack that nobody has called yet, and of identity afterwards. Gives the figures and the bars."""
    time.sleep(SETTLE_SECONDS)
    idle = {name: resident_bytes(stack.process_of(name)) for name in (*SERVICES, "gateway")}
    request = texts((1, stack.access_token()))
    target = Target(stack.process_of("identity"), stack.ports["identity"], CHECK_SESSION, request, 0, scratch)
    _, answer = target.call()
    target.answer_bytes, target.answer_bytes_spread = len(answer), ANSWER_BYTES_SPREAD
    target.load(CALLS)
    time.sleep(1)
    used = resident_bytes(stack.process_of("identity"))
    for name, (total, _) in idle.items():
        options.say(f"{name}: {total / 1e6:.1f} MB idle")
    figures = [
        Figure(f"{name}, idle", f"{total / 1e6:.1f} MB resident", "", f"{own / 1e6:.1f} MB of it its own")
        for name, (total, own) in idle.items()
    ] + [Figure(
        f"identity after a sign-in and {CALLS:,} calls", f"{used[0] / 1e6:.1f} MB resident", "",
        f"{used[1] / 1e6:.1f} MB of it its own")]
    return figures, [
        Bar(f"resident memory of {name}, idle", f"{idle[name][0] / 1e6:.1f} MB", f"under {RESIDENT_BYTES_MAX / 1e6:.0f} MB",
            idle[name][0] < RESIDENT_BYTES_MAX)
        for name in SERVICES
    ]
