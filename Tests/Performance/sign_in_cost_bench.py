"""Processor time of all our programs for a sign-in, over the cryptography that it can't do without: one verification of the provider's
token and one ES256 signature, by libcrypto in the same run.

By `POST /auth/google` with the simulator's tokens, for new accounts and known ones. PostgreSQL's time isn't in it.
"""

import base64
import contextlib
import dataclasses
import json
import os
import re
import secrets
import selectors
import socket
import statistics
import time

from known_sessions import PLAIN_CLIENT
from openid_bench import UNLIMITED
from processes import BenchError
from processor_time import Meter, signature_us, verification_us
from report import Bar, Figure
from service_stack import GOOGLE_CLIENT, service_stack

PROGRAMS = ("gateway", "identity", "profile", "invites")
PEOPLE = 800
# Connections where there are many.
MANY = 32
RESPONSE_SECONDS_MAX = 15
# For what follows the response.
SETTLE_SECONDS = 0.5
TIMES_MAX = 3
NEW, KNOWN = "new account", "known account"
PLAIN, WITH_ID_TOKEN = "", ", with an ID token"
CLIENTS = {PLAIN: PLAIN_CLIENT, WITH_ID_TOKEN: GOOGLE_CLIENT}


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of sign-in: for an account, by apps that get an ID token or not, over so many connections."""
    account: str
    app: str
    connections: int

    def __str__(self):
        return f"sign-in, {self.account}{self.app}, {'one at a time' if self.connections == 1 else f'{self.connections} connections'}"


def _key_bits(stack, token):
    """The length of the key that the provider signs with, by its key set; throws unless it is RSA."""
    header = json.loads(base64.urlsafe_b64decode(token.split(".")[0] + "=="))
    key = next(key for key in stack.ask("simulator", "/google/oauth2/v3/certs")["keys"] if key["kid"] == header["kid"])
    if header["alg"] != "RS256" or key["kty"] != "RSA":
        raise BenchError(f"the simulator signs with {header['alg']}; this part knows what RS256 costs")
    return len(base64.urlsafe_b64decode(key["n"] + "==")) * 8


class _Connection:
    """An app's connection to the gateway, which is one sign-in further with each response."""

    def __init__(self, port, path):
        self.path = path.encode()
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=15)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""

    def send(self, body):
        """Sends a sign-in."""
        self.socket.sendall(
            b"POST %s HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
            % (self.path, len(body), body))

    def response(self):
        """The content of the response, if all of it is there now."""
        read = self.socket.recv(65_536)
        self.received += read
        head, end, content = self.received.partition(b"\r\n\r\n")
        length = re.search(rb"^content-length: (\d+)", head, re.MULTILINE | re.IGNORECASE)
        if not read or end and (not length or not head.startswith(b"HTTP/1.1 200")):
            raise BenchError(f"a sign-in was answered {self.received[:60]!r}, {content[:300]!r}")
        if not end or len(content) < int(length[1]):
            return None
        self.received = b""
        return content


def sign_in(port, bodies, connections, core, path="/auth/google"):
    """Signs people in at the gateway, over so many connections with one request at a time each; gives the responses.

    By one thread on the load's core: a thread for each connection would leave the gateway waiting.
    """
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    waiting, answers = list(reversed(bodies)), []
    with selectors.DefaultSelector() as selector, contextlib.ExitStack() as opened:
        for _ in range(connections):
            connection = _Connection(port, path)
            opened.enter_context(connection.socket)
            selector.register(connection.socket, selectors.EVENT_READ, connection)
            connection.send(waiting.pop())
        while len(answers) < len(bodies):
            ready = selector.select(RESPONSE_SECONDS_MAX)
            if not ready:
                raise BenchError("the gateway doesn't answer sign-ins")
            for key, _ in ready:
                content = key.data.response()
                if content is not None:
                    answers.append(content)
                    if waiting:
                        key.data.send(waiting.pop())
    os.sched_setaffinity(0, cores)
    time.sleep(SETTLE_SECONDS)
    return [json.loads(content) for content in answers]


def _bodies(stack, emails, client):
    """What each person's app sends, with a token that the provider has just signed."""
    for email in emails:
        token, nonce = stack.provider_token(email, client)
        yield json.dumps({"id_token": token, "nonce": nonce}).encode()


def _check(answers, kind):
    for answer in answers:
        if answer["is_new_user"] != (kind.account == NEW) or ("id_token" in answer) != (kind.app == WITH_ID_TOKEN):
            raise BenchError(f"{kind}: answered with {sorted(answer)}, is_new_user {answer['is_new_user']}")


def _measure_round(stack, meter, core):
    """Processor time of a sign-in of each kind, by program, in microseconds."""
    found = {}
    for app, client in CLIENTS.items():
        for count in (1, MANY):
            emails = [f"{secrets.token_hex(8)}@example.com" for _ in range(PEOPLE)]
            for account in (NEW, KNOWN):
                kind = Kind(account, app, count)
                bodies = list(_bodies(stack, emails, client))
                answers, used = meter.of(lambda: sign_in(stack.ports["gateway"], bodies, count, core))
                _check(answers, kind)
                found[kind] = [each / PEOPLE for each in used]
    return found


def _judge(rounds, unit, cryptography):
    """The figures, and a bar for each account: apps without an ID token, many connections."""
    figures = [Figure("cryptography of a sign-in, by libcrypto", "", f"{unit:.1f} µs", cryptography)]
    bars = []
    for kind in rounds[0]:
        total = statistics.median(sum(found[kind]) for found in rounds)
        split = ", ".join(
            f"{name} {max(0, statistics.median(column)):.0f} µs" for name, column in zip(PROGRAMS, zip(*(found[kind] for found in rounds))))
        figures.append(Figure(str(kind), f"{total / unit:.1f} × the cryptography", f"{total:.0f} µs", split))
        if kind.connections == MANY and kind.app == PLAIN:
            bars.append(Bar(
                f"CPU of all programs for a sign-in ({kind.account}), over its cryptography", f"{total / unit:.1f} × ({split})",
                f"at most {TIMES_MAX} ×", total / unit <= TIMES_MAX))
    return figures, bars


def measure(options, scratch):
    """Gives the figures, the bars, and notes."""
    rounds, signatures, verifications = [], [], []
    with service_stack(options, os.path.join(scratch, "sign-in-cost"), VESTIBULE_EVENT_LOOPS="1", **UNLIMITED) as stack:
        for name in PROGRAMS:
            stack.pin(name, options.server_core)
        bits = _key_bits(stack, stack.provider_token()[0])
        # The first ones prepare statements and open connections.
        sign_in(stack.ports["gateway"], list(_bodies(stack, [None] * MANY, PLAIN_CLIENT)), MANY, options.load_core)
        for turn in range(options.rounds):
            signatures.append(signature_us(options))
            verifications.append(verification_us(options, bits))
            meter = Meter([stack.process_of(name) for name in PROGRAMS])
            rounds.append(_measure_round(stack, meter, options.load_core))
            for kind, used in rounds[-1].items():
                options.say(f"{turn + 1}/{options.rounds} {kind}: {sum(used):.0f} µs; "
                            + ", ".join(f"{name} {each:.0f} µs" for name, each in zip(PROGRAMS, used)))
    signature, verification = statistics.median(signatures), statistics.median(verifications)
    cryptography = f"RSA {bits} verification {verification:.1f} µs, ES256 signature {signature:.1f} µs"
    return *_judge(rounds, signature + verification, cryptography), [
        f"Cost of sign-ins: processor time of {', '.join(PROGRAMS)}, which share a core, without PostgreSQL's, the simulator's and the "
        f"load generator's, of {PEOPLE} people each. The bars are about apps that get no ID token, which would take another signature, "
        f"over {MANY} connections."]
