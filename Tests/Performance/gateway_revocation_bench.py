"""How long a session that ended at one gateway is still let in by another one, which remembers identity's answer about its token.

Two gateways, each with an identity of its own over one database. A session is used at the second gateway without a pause, over one connection, so
that the loop of that connection has the answer. Then the first gateway signs it out. What counts is the time from that gateway's answer to the
last response of the other one that let the session in, both by the same clock; a session that was refused before the answer counts as none.
"""

import contextlib
import http.client
import os
import threading
import time

from processes import BenchError, running, wait_until
from report import Bar, Figure
from revocation_bench import BAR_MS, CONNECT, quantile, replicas
from service_stack import free_ports, service_stack

# One session takes about a fifth of a second.
SHARE_OF_REVOCATIONS = 30
# Uses before the end, which are enough for identity to be asked and for its answer to be used.
USES = 20
REFUSED_SECONDS_MAX = 30
# One account asks more often here than the gateway's limits allow.
LIMITS = {
    f"VESTIBULE_GATEWAY_{what}_{part}": "1000000" for what in ("ADDRESS", "AUTH", "ACCOUNT", "CHANGES")
    for part in ("PER_SECOND", "BURST")}
CHECKS = 'vestibule_gateway_session_checks_total{by="answer"}'


class User:
    """Uses a session at a gateway, over one connection, in a thread of its own until it is refused."""

    def __init__(self, port, token):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        self.token = token
        self.uses = 0
        self.let_in_at = None
        self.error = None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        try:
            while self._is_let_in():
                self.let_in_at = time.monotonic_ns()
                self.uses += 1
        except (OSError, http.client.HTTPException, BenchError) as error:
            self.error = error

    def _is_let_in(self):
        self.connection.request("GET", "/me", headers={"authorization": f"Bearer {self.token}"})
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status not in (200, 401):
            raise BenchError(f"GET /me: {answer.status} {content[:200]!r}")
        return answer.status == 200

    def wait(self):
        """Waits until the session is refused; gives when it was let in last."""
        self.thread.join(REFUSED_SECONDS_MAX)
        self.connection.close()
        if self.error or self.thread.is_alive():
            raise BenchError(f"the session is still let in: {self.error}")
        return self.let_in_at


def _sign_out(connection, token):
    """Signs out at a gateway; gives when it answered."""
    connection.request("POST", "/auth/sign-out", headers={"authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    content = answer.read()
    if answer.status != 204:
        raise BenchError(f"POST /auth/sign-out: {answer.status} {content[:200]!r}")
    return time.monotonic_ns()


@contextlib.contextmanager
def _gateway(stack, scratch, identity_port):
    """Another gateway, which asks the identity at that port: its port and the port of its metrics."""
    port, metrics_port = free_ports(2)
    environment = stack.environment_of("gateway") | {
        "VESTIBULE_GATEWAY_LISTEN": f"127.0.0.1:{port}", "VESTIBULE_GATEWAY_METRICS_LISTEN": f"127.0.0.1:{metrics_port}",
        "VESTIBULE_IDENTITY_ADDRESS": f"127.0.0.1:{identity_port}"}
    with running([f"{stack.binaries}/gateway", "serve"], os.path.join(scratch, "gateway-2.log"), environment=environment):
        wait_until(lambda: stack.listens(port), "the other gateway listens")
        yield port, metrics_port


def _answers_used(metrics_port):
    """How many tokens that gateway judged by an answer that it remembered."""
    connection = http.client.HTTPConnection("127.0.0.1", metrics_port, timeout=10)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(CHECKS))


def measure(options, scratch):
    """Gives the figure and the bar."""
    count = max(20, options.revocations // SHARE_OF_REVOCATIONS)
    waits, uses = [], 0
    with service_stack(options, os.path.join(scratch, "gateway-revocations"), **CONNECT, **LIMITS) as stack, \
            replicas(stack, scratch, 1) as identities, _gateway(stack, scratch, identities[1]) as (port, metrics_port):
        here = http.client.HTTPConnection("127.0.0.1", stack.ports["gateway"], timeout=10)
        for number in range(count):
            token = stack.access_token()
            user = User(port, token)
            wait_until(lambda user=user: user.uses >= USES or user.error, "the session is used")
            answered_at = _sign_out(here, token)
            waits.append(max(0, user.wait() - answered_at) / 1e6)
            uses += user.uses
            if number % 100 == 0:
                options.say(f"revocations, gateways {number + 1:,}/{count:,} p99 {quantile(waits, 0.99):.1f} ms")
        here.close()
        remembered = _answers_used(metrics_port)
    p99 = quantile(waits, 0.99)
    figures = [Figure(
        "revocations, gateways: the last request let in by another gateway, after the sign-out's answer",
        f"p50 {quantile(waits, 0.5):.1f} ms, p99 {p99:.1f} ms, at most {max(waits):.1f} ms", "",
        f"{count:,} of them; {remembered / uses:.0%} of the uses were judged by remembered answers")]
    bars = [Bar(
        "another gateway lets an ended session in, p99", f"{p99:.1f} ms", f"at most {BAR_MS} ms", p99 <= BAR_MS)]
    return figures, bars
