"""What two things that come with a sign-in cost the person who waits for it: the exchange of the provider's authorization code,
which follows the answer, and the audit log, whose row is written by the statement that opens the session."""

import os
import statistics

from processes import BenchError
from report import Bar, Figure
from revocation_bench import CONNECT, Caller
from service_stack import service_stack
from syscall_bench import counting

SIGN_INS_PER_SECOND = 50
SECONDS_MIN = 6
# Noise between two equal runs.
EXCHANGE_RATIO_MAX = 1.05
CALLS_FEW, CALLS_MANY = 40, 240
# Timers now and then; a round trip takes three: to send, to sleep, and to read.
CALLS_OVER_MAX = 1.0
AUDIT_TRIGGER = "sessions_begun"


def _median_ms(stack, options, *flags):
    total = stack.load(
        "sign-in", *flags, duration=f"{max(SECONDS_MIN, options.seconds)}s", warm_up="1s", rate=SIGN_INS_PER_SECOND)["total"]
    return total["latency_ns"]["p50"] / 1e6, total["succeeded"]


def _exchanges(stack):
    return stack.ask("simulator", "/control/counts")["google"]["token"]


def _measure_exchange(stack, options):
    """In turn, with codes and without."""
    without, with_codes = [], []
    for turn in range(options.rounds):
        without.append(_median_ms(stack, options)[0])
        before = _exchanges(stack)
        median, count = _median_ms(stack, options, "--codes")
        with_codes.append(median)
        exchanged = _exchanges(stack) - before
        if exchanged < count:
            raise BenchError(f"of {count} codes {exchanged} were exchanged")
        options.say(
            f"sign-in {turn + 1}/{options.rounds}   median {without[-1]:.2f} ms, with a code that is exchanged {median:.2f} ms")
    return statistics.median(without), statistics.median(with_codes)


def _sign_in_bodies(stack, count):
    """What so many people show, each for their first time."""
    for _ in range(count):
        token, nonce = stack.provider_token()
        yield {"provider": "google", "idToken": token, "nonce": nonce}


def _calls_per_sign_in(stack, caller, scratch):
    """System calls of identity for a sign-in, made while nothing else is."""
    counts = []
    for count in (CALLS_FEW, CALLS_MANY):
        bodies = list(_sign_in_bodies(stack, count))
        with counting(stack.process_of("identity"), scratch) as found:
            for body in bodies:
                caller.call("SignIn", body)
        counts.append(sum(found.values()))
    return (counts[1] - counts[0]) / (CALLS_MANY - CALLS_FEW)


def _measure_audit(stack, scratch):
    """With the audit log's trigger and without it."""
    caller = Caller(stack.ports["identity"])
    # The first ones prepare statements and open connections.
    for body in _sign_in_bodies(stack, CALLS_FEW):
        caller.call("SignIn", body)
    with_log = _calls_per_sign_in(stack, caller, scratch)
    told = int(stack.sql("SELECT count(*) FROM identity.security_events WHERE kind = 'signed_in'"))
    stack.sql(f"ALTER TABLE identity.sessions DISABLE TRIGGER {AUDIT_TRIGGER}")
    without = _calls_per_sign_in(stack, caller, scratch)
    if int(stack.sql("SELECT count(*) FROM identity.security_events WHERE kind = 'signed_in'")) != told:
        raise BenchError("the audit log was written without its trigger")
    stack.sql(f"ALTER TABLE identity.sessions ENABLE TRIGGER {AUDIT_TRIGGER}")
    return with_log, without


def measure(options, scratch):
    """Gives the figures, the bars, and notes."""
    with service_stack(options, os.path.join(scratch, "sign-in"), **CONNECT) as stack:
        plain, exchanged = _measure_exchange(stack, options)
        with_log, without = _measure_audit(stack, scratch)
    ratio, more = exchanged / plain, with_log - without
    figures = [
        Figure("sign-in, median", f"{plain:.2f} ms", "", f"{SIGN_INS_PER_SECOND} a second"),
        Figure("sign-in with a code, median", f"{exchanged:.2f} ms", "", "exchanged behind the answer, its token sealed and kept"),
        Figure("sign-in, identity", f"{with_log:.1f} system calls", "", f"{without:.1f} without the audit log"),
    ]
    return figures, [
        Bar("median of a sign-in whose code is exchanged over one without", f"{ratio:.2f} ×", f"at most {EXCHANGE_RATIO_MAX} ×",
            ratio <= EXCHANGE_RATIO_MAX),
        Bar("identity's system calls that the audit log adds to a sign-in", f"{more:+.1f}", f"at most {CALLS_OVER_MAX}",
            more <= CALLS_OVER_MAX),
    ], ["Sign-ins: by gRPC with the simulator's tokens; system calls by strace, one sign-in after the other. A "
        "round trip to PostgreSQL takes three."]
