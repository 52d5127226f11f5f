"""How long a session that was ended is still let in by a service that verifies access tokens by itself.

Three replicas of identity over one database; the service holds its stream at whichever it came to, and verifies tokens without
a pause. Sign-outs go to the replicas in turn. For each counts the time from its answer to the last time that the service let
the session in, both by the same clock; one that was refused before the answer counts as none.
"""

import concurrent.futures
import contextlib
import hashlib
import http.client
import itertools
import json
import math
import os
import secrets
import subprocess
import threading
import time

from processes import BenchError, running, wait_until
from report import Bar, Figure
from service_stack import GOOGLE_CLIENT, claims_of, free_ports, service_stack

REPLICAS = 3
BAR_MS = 250
# Sessions that are verified in turn: few enough that each is asked about many times a millisecond.
BATCH = 200
REFUSED_SECONDS_MAX = 30
SERVICE = "/vestibule.identity.v1.IdentityService/"
# The stack keeps what it needs of an identity; a further one differs by where it listens.
CONNECT = {"VESTIBULE_IDENTITY_CONNECT": "true"}


class Caller:
    """Calls one replica by Connect, JSON both ways, over one connection."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)

    def call(self, method, message):
        """The answer, and when it was there, in nanoseconds of CLOCK_MONOTONIC."""
        self.connection.request(
            "POST", SERVICE + method, json.dumps(message), {"content-type": "application/json"})
        answer = self.connection.getresponse()
        content = answer.read()
        answered_at = time.monotonic_ns()
        if answer.status != 200:
            raise BenchError(f"{method}: {answer.status} {content[:200]!r}")
        return json.loads(content), answered_at


class Consumer:
    """The service: it is given tokens, and tells when each was last accepted."""

    def __init__(self, process):
        self.process = process
        self.accepted = set()
        self.refused = {}
        self.asked = None
        self.is_ready = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            words = line.split()
            if words[0] == "ready":
                self.is_ready.set()
            elif words[0] == "accepted":
                self.accepted.add(int(words[1]))
            elif words[0] == "asked":
                self.asked = int(words[1])
            else:
                self.refused[int(words[0])] = (int(words[1]), int(words[2]), words[3])

    def watch(self, number, token):
        """Verifies a token from now on."""
        self.process.stdin.write(f"{number} {token}\n")
        self.process.stdin.flush()


@contextlib.contextmanager
def _consumer(options, scratch, ports, issuer, audience):
    command = [
        f"{options.binaries}/revocation-consumer", ",".join(f"127.0.0.1:{port}" for port in ports), issuer, audience]
    with open(os.path.join(scratch, "revocation-consumer.log"), "wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        consumer = Consumer(process)
        if not consumer.is_ready.wait(30):
            raise BenchError("the service never held the stream of ended sessions")
        yield consumer
    finally:
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def replicas(stack, scratch, count):
    """So many processes of identity beside the stack's own: the ports of all."""
    environment = stack.environment_of("identity")
    ports = free_ports(count)
    with contextlib.ExitStack() as entered:
        for port in ports:
            own = {**environment, "VESTIBULE_IDENTITY_LISTEN": f"127.0.0.1:{port}", **CONNECT}
            own.pop("VESTIBULE_IDENTITY_METRICS_LISTEN", None)
            log = os.path.join(scratch, f"identity-{port}.log")
            entered.enter_context(running([f"{stack.binaries}/identity", "serve"], log, environment=own))
        for port in ports:
            wait_until(lambda: _serves(port), f"identity at {port} serves")
        yield [stack.ports["identity"], *ports]


def _serves(port):
    try:
        Caller(port).call("GetJWKS", {})
    except (OSError, BenchError, http.client.HTTPException):
        return False
    return True


def _sign_in(stack, caller):
    nonce = secrets.token_hex(16)
    order = {
        "client_id": GOOGLE_CLIENT, "nonce": hashlib.sha256(nonce.encode()).hexdigest(),
        "person": {"email": f"{secrets.token_hex(8)}@example.com"}}
    token = stack.ask("simulator", "/control/google/sign-in", order)["id_token"]
    answer, _ = caller.call("SignIn", {"provider": "google", "idToken": token, "nonce": nonce})
    return answer["tokens"]["accessToken"]


def _each(pool, work, callers, items):
    """Does the work of all items, those of one caller one after the other."""
    shares = [list(itertools.islice(items, index, None, len(callers))) for index in range(len(callers))]
    done = pool.map(lambda pair: [work(pair[0], item) for item in pair[1]], zip(callers, shares))
    return [result for share in done for result in share]


def _batch(pool, stack, callers, consumer, numbers):
    """Signs so many in, has the service verify them, and signs them out: for each the milliseconds for which it was let in."""
    tokens = dict(zip(numbers, _each(pool, lambda caller, _: _sign_in(stack, caller), callers, numbers)))
    for number, token in tokens.items():
        consumer.watch(number, token)
    wait_until(lambda: consumer.accepted.issuperset(numbers), "the service lets all in", REFUSED_SECONDS_MAX)
    answered = dict(_each(
        pool, lambda caller, number: (number, caller.call("SignOut", {"accessToken": tokens[number]})[1]), callers,
        numbers))
    wait_until(
        lambda: all(number in consumer.refused for number in numbers), "the service refuses all that ended",
        REFUSED_SECONDS_MAX)
    waits = []
    for number in numbers:
        accepted_at, _, why = consumer.refused[number]
        if why != "ended":
            raise BenchError(f"a session was refused as {why}")
        waits.append(max(0, accepted_at - answered[number]) / 1e6)
    return waits


def quantile(values, share):
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _waits(options, scratch, engine, count):
    """Ends `count` sessions, batch by batch. Gives the milliseconds for which each was let in, and how often identity was asked."""
    waits = []
    with service_stack(
            options, os.path.join(scratch, f"revocations-{engine}"), VESTIBULE_DATABASE_ENGINE=engine, **CONNECT) as stack, \
            replicas(stack, scratch, REPLICAS - 1) as ports, \
            concurrent.futures.ThreadPoolExecutor(REPLICAS) as pool:
        callers = [Caller(port) for port in ports]
        claims = claims_of(_sign_in(stack, callers[0]))
        with _consumer(options, scratch, ports, claims["iss"], claims["aud"]) as consumer:
            for first in range(0, count, BATCH):
                numbers = range(first, min(first + BATCH, count))
                waits += _batch(pool, stack, callers, consumer, numbers)
                if first % (BATCH * 10) == 0:
                    options.say(f"revocations, {engine} {len(waits):,}/{count:,} p99 {quantile(waits, 0.99):.1f} ms")
            consumer.process.stdin.close()
            consumer.process.wait(timeout=30)
            wait_until(lambda: consumer.asked is not None, "the service tells how often it asked")
    return waits, consumer.asked


def measure(options, scratch):
    """Measures both ways to read the log of ended sessions. Gives the figures and the bars."""
    figures, bars = [], []
    for engine, count in (("postgresql", options.revocations), ("distributed", max(1, options.revocations // 5))):
        waits, asked = _waits(options, scratch, engine, count)
        p99 = quantile(waits, 0.99)
        figures.append(Figure(
            f"revocations, {engine}: the last call let in, after the sign-out's answer",
            f"p50 {quantile(waits, 0.5):.1f} ms, p99 {p99:.1f} ms, at most {max(waits):.1f} ms", "",
            f"{len(waits):,} of them, {REPLICAS} replicas; identity was asked in {asked} calls"))
        bars.append(Bar(
            f"an ended session let in, {engine}, 99th percentile of {len(waits):,}", f"{p99:.1f} ms", f"at most {BAR_MS} ms",
            p99 <= BAR_MS))
    return figures, bars
