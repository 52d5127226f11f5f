"""CheckSession, with an access token that identity has seen before and with ones that it has not, against Envoy's filter
jwt_authn, which verifies the same kind of token with its cache and without; and what libcrypto's signature alone costs.

Identity and Envoy are on the server's core, the load on the other. PostgreSQL, of which identity reads the session's row for
each call and Envoy nothing, is on the load's core as well.
"""

import os
import re
import statistics

import envoy_peer
import known_sessions
from h2load import Target
from messages import texts
from processes import BenchError, run
from report import Bar, Figure
from service_stack import claims_of, free_ports, service_stack

CHECK_SESSION = "vestibule.identity.v1.IdentityService/CheckSession"
SEEN, UNSEEN = "token seen before", "token never seen before"
RATIOS_MIN = {SEEN: 3, UNSEEN: 2}
# Sessions that take turns, more than identity remembers tokens: each is forgotten when its turn comes.
UNSEEN_SESSIONS = 40_000
UNSEEN_WORKERS = 256
CONNECTIONS = 8
# How long the answer may be used counts down, in two bytes or three.
ANSWER_BYTES_SPREAD = 2


def verifications_per_second(options):
    """Signatures of P-256 that libcrypto verifies a second on the server's core."""
    text = run(["openssl", "speed", "-seconds", str(options.seconds), "ecdsap256"], core=options.server_core)
    found = re.search(r"^ *256 bits ecdsa \(nistp256\)(?:\s+[\d.]+s?){3}\s+([\d.]+)\s*$", text, re.MULTILINE)
    if not found:
        raise BenchError(f"openssl speed printed no rate: {text[-200:]}")
    return float(found[1])


def _check_target(stack, token, scratch):
    """The target that checks one session, with an answer that is known to be good."""
    target = Target(stack.process_of("identity"), stack.ports["identity"], CHECK_SESSION, texts((1, token)), 0, scratch)
    status, answer = target.call()
    if status != 0 or not answer:
        raise BenchError(f"identity answered a check of a session with status {status}")
    target.answer_bytes, target.answer_bytes_spread = len(answer), ANSWER_BYTES_SPREAD
    refused, _ = target.call(texts((1, _forged(token))))
    if refused != 16:
        raise BenchError(f"identity answered a forged token with status {refused} instead of 16")
    return target


def _forged(token):
    """With another payload, whose signature and MAC nobody has. Identity does not look at a signature whose token it knows."""
    header, payload, signature = token.split(".")
    middle = len(payload) // 2
    return f"{header}.{payload[:middle]}{'A' if payload[middle] != 'A' else 'B'}{payload[middle + 1:]}.{signature}"


def _unseen(stack, options, sessions):
    report = stack.load(
        "check-session", core=options.load_core, duration=f"{options.seconds}s", warm_up="1s", workers=UNSEEN_WORKERS,
        sessions=sessions, connections=CONNECTIONS)
    return report["total"]["succeeded_per_second"]


def _envoy(options, scratch, stack, token, has_cache):
    claims = claims_of(token)
    audience = claims["aud"] if isinstance(claims["aud"], str) else claims["aud"][0]
    key_set = stack.ask("gateway", "/.well-known/jwks.json")
    with envoy_peer.serving(
            options, scratch, free_ports(1)[0], issuer=claims["iss"], audience=audience, key_set=key_set,
            has_cache=has_cache) as target:
        target.more_headers = [f"authorization: Bearer {_forged(token)}"]
        if target.status() != 401:
            raise BenchError("Envoy took a forged token")
        target.more_headers = [f"authorization: Bearer {token}"]
        return target.load(target.calls_for(options.seconds, options.load_core), options.load_core)


def measure(options, scratch):
    """Runs ours and Envoy in turn. Gives the figures, the bars and notes."""
    rates = {SEEN: [], UNSEEN: []}
    envoys = {SEEN: [], UNSEEN: []}
    ours, notes, signatures = [], [], []
    # One thread for one core, as an operator would configure it.
    with service_stack(options, os.path.join(scratch, "session"), VESTIBULE_EVENT_LOOPS="1") as stack:
        stack.pin("identity", options.server_core)
        stack.pin("postgres", options.load_core)
        token = stack.access_token()
        target = _check_target(stack, token, scratch)
        known_sessions.insert(stack, UNSEEN_SESSIONS)
        sessions = known_sessions.tokens(stack, os.path.join(scratch, "session-tokens"), UNSEEN_SESSIONS)
        calls = target.calls_for(options.seconds, options.load_core)
        for turn in range(options.rounds):
            ours.append(target.load(calls, options.load_core))
            rates[SEEN].append(ours[-1].calls_per_second)
            rates[UNSEEN].append(_unseen(stack, options, sessions))
            signatures.append(verifications_per_second(options))
            try:
                for what, has_cache in ((SEEN, True), (UNSEEN, False)):
                    envoys[what].append(_envoy(options, scratch, stack, token, has_cache))
            except BenchError as error:
                notes.append(f"Missing peer Envoy: {error}")
            for what in rates:
                beside = f"Envoy {envoys[what][-1].calls_per_second:9,.0f}/s" if envoys[what] else "Envoy is missing"
                options.say(
                    f"CheckSession {turn + 1}/{options.rounds} {what:23} {rates[what][-1]:9,.0f} calls/s   {beside}")
            options.say(f"libcrypto {turn + 1}/{options.rounds} verifies {signatures[-1]:,.0f} signatures/s")
    return *_judge(rates, ours, envoys, statistics.median(signatures)), sorted(set(notes))


def _judge(rates, ours, envoys, signatures):
    server_us = statistics.median(run.server_ns_per_call for run in ours) / 1e3
    unseen = statistics.median(rates[UNSEEN])
    figures = [
        Figure(f"CheckSession, {SEEN}", f"{statistics.median(rates[SEEN]):,.0f} calls/s", f"{server_us:.2f} µs",
               "reads the session's row each time"),
        Figure(f"CheckSession, {UNSEEN}", f"{unseen:,.0f} calls/s", "",
               f"{UNSEEN_SESSIONS:,} sessions in turn; known by their MAC"),
        Figure("ES256 by libcrypto (openssl speed)", f"{signatures:,.0f} signatures/s", f"{1e6 / signatures:.2f} µs", ""),
    ]
    bars = []
    for what, runs in envoys.items():
        if not runs:
            continue
        rate = statistics.median(run.calls_per_second for run in runs)
        cpu_us = statistics.median(run.server_ns_per_call for run in runs) / 1e3
        kind = "its cache" if what == SEEN else "no cache"
        figures.append(Figure(f"Envoy jwt_authn, {kind}", f"{rate:,.0f} calls/s", f"{cpu_us:.2f} µs", ""))
        ratio = statistics.median(rates[what]) / rate
        bars.append(Bar(
            f"CheckSession, {what}, over Envoy's jwt_authn with {kind}", f"{ratio:.1f} ×", f"at least {RATIOS_MIN[what]} ×",
            ratio >= RATIOS_MIN[what]))
    return figures, bars
