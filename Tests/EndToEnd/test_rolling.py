"""A gateway is replaced under load behind HAProxy: no request fails, whichever way HAProxy forwards them."""

import contextlib
import signal
import time

from other_gateway import another_gateway
from process_table import wait_until
from proxies import Way, haproxy
from stack import free_ports
from steady_load import KeptConnection, SteadyLoad, Streams

# Limits are not tested here: the load is a few accounts' from few addresses.
LIMITS = {f"{kind}_{part}": "1000000" for kind in ("ADDRESS", "ACCOUNT", "CHANGES") for part in ("PER_SECOND", "BURST")}
STOP_SECONDS = 30
# Longer than HAProxy needs to notice that a gateway is not ready any more: three checks.
DRAIN_DELAY = "500ms"
STEADY_SECONDS = 1.0
ROUNDS = 2
WAYS = ("pass", "one", "two")


class Gateways:
    """Two gateways that can be replaced."""

    def __init__(self, stack):
        self._stack = stack
        self.addresses = {name: f"127.0.0.1:{port}" for name, port in zip(("a", "b"), free_ports(2))}
        self._running = {}

    def __enter__(self):
        for name in self.addresses:
            self._start(name)
        return self

    def __exit__(self, *_):
        for running in self._running.values():
            running.close()

    def _start(self, name):
        self._running[name] = contextlib.ExitStack()
        self._gateway = self._running[name].enter_context(another_gateway(
            self._stack, port=int(self.addresses[name].split(":")[1]), DRAIN_DELAY=DRAIN_DELAY, **LIMITS))

    def replace(self, name):
        """Stops a gateway as an orchestrator does, and starts the next; returns how long the stop took."""
        begun = time.monotonic()
        # Sends SIGTERM, waits for the end, and checks the status.
        self._running.pop(name).close()
        seconds = time.monotonic() - begun
        self._start(name)
        return seconds


def ways(addresses):
    """Ways to forward: connections unchanged; requests over HTTP/1.1; requests over HTTP/2."""
    return [
        Way("pass", addresses),
        Way("one", addresses, mode="http"),
        Way("two", addresses, mode="http", on_bind="proto h2", on_server="proto h2"),
    ]


def test_no_request_fails_while_each_is_replaced(stack, new_app, tmp_path):
    token = signed_in(new_app)
    with Gateways(stack) as gateways, haproxy(tmp_path, *ways(gateways.addresses)) as (addresses, states):
        passed, one, two = addresses
        workers = {
            "HTTP/1.1, connections passed on": KeptConnection(passed, token),
            "HTTP/2, connections passed on": Streams(passed, token),
            "HTTP/1.1, requests passed on": KeptConnection(one, token),
            "HTTP/2, requests passed on": Streams(two, token),
        }
        with SteadyLoad(workers) as load:
            for _ in range(ROUNDS):
                for name in gateways.addresses:
                    time.sleep(STEADY_SECONDS)
                    seconds = gateways.replace(name)
                    # It waits for the configured time, and not for idle connections.
                    assert 0.5 <= seconds < STOP_SECONDS / 3, seconds
                    wait_until(lambda: all(states()[way, name] == "UP" for way in WAYS), 10, lambda: f"HAProxy: {states()}")
            time.sleep(STEADY_SECONDS)
    print(load.counts)
    assert not load.failures, "\n".join(load.failures[:10])
    assert all(count >= 50 for count in load.counts.values()), load.counts


def signed_in(new_app):
    app = new_app()
    app.sign_in()
    app.complete()
    return app.access_token


def test_readiness_ends_before_requests_are_refused(stack):
    with another_gateway(stack, DRAIN_DELAY="2s") as gateway:
        idle = gateway.connect()
        idle.request("GET", "/healthz")
        idle.getresponse().read()
        gateway.get("/readyz").expect(200)
        gateway.process.send_signal(signal.SIGTERM)
        wait_until(lambda: gateway.get("/readyz").status == 503, 1.5, "readiness to be taken back")
        # New and existing connections are served as before.
        gateway.get("/healthz").expect(200)
        idle.request("GET", "/healthz")
        response = idle.getresponse()
        assert response.status == 200 and response.read() and response.headers["Connection"] != "close"
        gateway.process.wait(timeout=STOP_SECONDS)


def test_connections_announce_their_end(stack, new_app):
    """By Connection: close and GOAWAY; none is cut before its client could know."""
    with another_gateway(stack) as gateway:
        idle = gateway.connect()
        idle.request("GET", "/healthz")
        idle.getresponse().read()
        streams = Streams(gateway.address, signed_in(new_app))
        assert streams() and not streams.is_leaving
        gateway.process.send_signal(signal.SIGTERM)
        wait_until(lambda: "draining" in gateway.log.read_text(), 5, "the drain to begin")
        idle.request("GET", "/healthz")
        response = idle.getresponse()
        assert (response.status, response.headers["Connection"]) == (200, "close") and response.read()
        # Sent after GOAWAY, and answered all the same: the client could not know of it yet.
        assert streams() and streams.is_leaving
        gateway.process.wait(timeout=STOP_SECONDS)
