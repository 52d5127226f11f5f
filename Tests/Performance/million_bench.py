"""A million sessions: the memory of identity, and the processor time of a CheckSession, beside that with ten thousand of them
in use.

Rows are made by SQL and tokens minted; identity is on the server's core, load and PostgreSQL are on the other.
"""

import os
import statistics

import known_sessions
from processes import cpu_and_waiting_ns, resident_bytes
from report import Bar, Figure
from service_stack import service_stack

SESSIONS = 1_000_000
# In use: of the million as many as a run can call once each, spread over all of them. Both are far more than identity remembers.
FEW, MANY = 10_000, 200_000
RESIDENT_BYTES_MAX = 400_000_000
RATIO_MAX = 1.2
WORKERS = 256
CONNECTIONS = 8


def _cpu_ns_per_call(stack, options, sessions):
    process = stack.process_of("identity")
    before = cpu_and_waiting_ns(process)[0]
    total = stack.load(
        "check-session", core=options.load_core, duration=f"{options.seconds}s", warm_up="0s", workers=WORKERS,
        connections=CONNECTIONS, sessions=sessions)["total"]
    return (cpu_and_waiting_ns(process)[0] - before) / total["succeeded"], total["succeeded_per_second"]


def measure(options, scratch):
    """Calls with few and with many of the sessions in turn. Gives the figures and the bars."""
    times, rates = {FEW: [], MANY: []}, {FEW: [], MANY: []}
    with service_stack(options, os.path.join(scratch, "million"), VESTIBULE_EVENT_LOOPS="1") as stack:
        stack.pin("identity", options.server_core)
        known_sessions.insert(stack, SESSIONS)
        stack.pin("postgres", options.load_core)
        files = {
            count: known_sessions.tokens(
                stack, os.path.join(scratch, f"tokens-{count}"), count, step=SESSIONS // count)
            for count in times
        }
        # What is done the first time is done.
        _cpu_ns_per_call(stack, options, files[FEW])
        for turn in range(options.rounds):
            for count, file in files.items():
                time, rate = _cpu_ns_per_call(stack, options, file)
                times[count].append(time)
                rates[count].append(rate)
                options.say(
                    f"CheckSession {turn + 1}/{options.rounds} {count:9,} of {SESSIONS:,} sessions {rate:9,.0f} calls/s "
                    f"{time / 1e3:7.2f} µs each")
        resident, own = resident_bytes(stack.process_of("identity"))
    figures = [
        Figure(f"CheckSession, {count:,} of {SESSIONS:,} sessions in turn", f"{statistics.median(rates[count]):,.0f} calls/s",
               f"{statistics.median(times[count]) / 1e3:.2f} µs", "")
        for count in times
    ]
    figures.append(Figure("identity after that", f"{resident / 1e6:.1f} MB resident", "", f"{own / 1e6:.1f} MB of it its own"))
    ratio = statistics.median(times[MANY]) / statistics.median(times[FEW])
    return figures, [
        Bar("resident memory of identity with a million sessions", f"{resident / 1e6:.1f} MB",
            f"under {RESIDENT_BYTES_MAX / 1e6:.0f} MB", resident < RESIDENT_BYTES_MAX),
        Bar("processor time of a CheckSession with a million sessions over ten thousand", f"{ratio:.2f} ×",
            f"at most {RATIO_MAX} ×", ratio <= RATIO_MAX),
    ]
