"""Compose's profile `https`: what holds of a gateway behind Caddy, and of one that is replaced there."""

import collections
import itertools
import json
import re
import socket
import ssl
import subprocess
import threading
import time

import grpc

import engine
from stack import send

NAME = "api.example.com"
HEALTH, SERVING = "/grpc.health.v1.Health/Check", b"\x08\x01"
AUTHORITY = "/certificates/caddy/pki/authorities/local/root.crt"
AUTHORITY_SECONDS = 20
# Faster together than an address may sign in.
GUESSERS = 8
REFUSED, REFUSED_SECONDS = 50, 20
OTHERS = 5
# How wget ends when it is refused for want of a valid token; 8 would be 429.
WGET_UNAUTHORIZED = 6


def environment(https_port, http_port):
    """What a deployment sets, with certificates of Caddy's own in place of an authority's."""
    return {
        "COMPOSE_PROFILES": "https", "VESTIBULE_HTTPS_NAMES": f"localhost, {NAME}", "VESTIBULE_HTTPS_TLS": "tls internal",
        "VESTIBULE_HTTPS_PUBLISH": f"127.0.0.1:{https_port}", "VESTIBULE_HTTP_PUBLISH": f"127.0.0.1:{http_port}"}


class Proxy:
    """Caddy of a stack as clients see it."""

    def __init__(self, stack, https_port, http_port):
        self._stack = stack
        self.address = f"localhost:{https_port}"
        self._plain = f"localhost:{http_port}"
        self.context = ssl.create_default_context(cadata=self._authority())

    def _authority(self):
        """The certificate of Caddy's own authority, which it makes at its first start."""
        limit = time.monotonic() + AUTHORITY_SECONDS
        while True:
            try:
                return self._stack.docker("exec", self._container(), "cat", AUTHORITY)
            except RuntimeError:
                assert time.monotonic() < limit, "Caddy has made no certificates"
                time.sleep(0.2)

    def _container(self):
        (container,) = self._stack.containers("https")
        return container

    def send(self, method, path, body=None, headers=None):
        return send(self.address, method, path, body, context=self.context, headers=headers)

    def answers(self):
        """Speaks to clients as it should; gives a line for people."""
        status, _, headers = self.send("GET", "/healthz")
        assert status == 200, status
        assert headers.get_all("Strict-Transport-Security") == ["max-age=31536000"], headers
        assert "Server" not in headers and "Alt-Svc" not in headers, headers
        status, _, headers = send(self._plain, "GET", "/me?x=1", headers={"Host": NAME})
        assert (status, headers["Location"]) == (308, f"https://{NAME}/me?x=1"), (status, headers)
        assert "Strict-Transport-Security" not in headers, headers
        versions = {name: self._protocol(name) for name in ("localhost", NAME)}
        assert set(versions.values()) == {"h2"}, versions
        with grpc.secure_channel(self.address, grpc.ssl_channel_credentials(self._authority().encode())) as channel:
            assert channel.unary_unary(HEALTH)(b"", timeout=5) == SERVING
        return f"HTTP/1.1, HTTP/2 and gRPC for {' and '.join(versions)}; HTTP is sent on"

    def _protocol(self, name):
        """The protocol that is agreed on for a name, whose certificate must be good."""
        context = ssl.create_default_context(cadata=self._authority())
        context.set_alpn_protocols(["h2", "http/1.1"])
        host, port = self.address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=5) as plain, \
                context.wrap_socket(plain, server_hostname=name) as secure:
            return secure.selected_alpn_protocol()

    def clients_are_told_apart(self):
        """The gateway counts the address that Caddy was called from, and none that a client makes up; gives a line for
        people."""
        statuses = collections.Counter()
        stop = threading.Event()
        threads = [threading.Thread(target=self._guess, args=(index, statuses, stop), daemon=True)
                   for index in range(GUESSERS)]
        for thread in threads:
            thread.start()
        limit = time.monotonic() + REFUSED_SECONDS
        try:
            while statuses[429] < REFUSED:
                assert time.monotonic() < limit, f"what is made up in X-Forwarded-For counts: {statuses}"
                time.sleep(0.05)
            # Meanwhile, from another address: inside the container.
            for _ in range(OTHERS):
                self._guess_inside()
        finally:
            stop.set()
            for thread in threads:
                thread.join(timeout=15)
        assert set(statuses) == {401, 429}, statuses
        return f"{statuses[429]} of {statuses.total()} refused for one address, none of {OTHERS} for another"

    def _guess(self, index, statuses, stop):
        """Tries made-up tokens, each time with another address made up."""
        made_up = (f"198.51.{index}.{number}" for number in itertools.cycle(range(256)))
        while not stop.is_set():
            status, _, _ = self.send(
                "POST", "/auth/refresh", {"refresh_token": "x"}, headers={"X-Forwarded-For": next(made_up)})
            statuses[status] += 1

    def _guess_inside(self):
        asked = subprocess.run(
            ["docker", "exec", self._container(), "wget", "--quiet", "--no-check-certificate", "--output-document=-",
             "--post-data={\"refresh_token\":\"x\"}", "--header=Content-Type: application/json",
             "https://localhost:8443/auth/refresh"], env=self._stack.environment, capture_output=True, text=True)
        assert asked.returncode == WGET_UNAUTHORIZED, (asked.returncode, asked.stdout, asked.stderr)

    def roll(self, load, root):
        """Replaces the gateway under load through Caddy; gives a line for people."""
        (old,) = self._stack.containers("gateway")
        before = time.monotonic()
        engine.run("make", "--no-print-directory", "roll", "SERVICE=gateway", cwd=root, env=self._stack.environment)
        time.sleep(1)
        (new,) = self._stack.containers("gateway")
        assert new != old
        assert not load.failed(before), load.summary(before)
        assert load.calls(before), "there was no load"
        self._stack.gateway = self._stack.docker("port", new, "8080").splitlines()[0]
        return load.summary(before)


def networks(stack):
    """With the profile Caddy has a way out as well, and only it and the gateway are in the network between them."""
    whole = json.loads(stack.compose("--profile", "https", "config", "--format", "json", development=False))
    joined = {name: set(service.get("networks") or {}) for name, service in whole["services"].items()}
    assert [name for name, networks in joined.items() if "front" in networks] == ["gateway", "https"], joined
    assert {name for name, networks in joined.items() if "edge" in networks} == {"gateway", "https"}, joined
    assert joined["https"] == {"edge", "front"} and joined["https-folder"] == set(), joined
    published = {name for name, service in whole["services"].items() if service.get("ports")}
    assert published == {"gateway", "https"}, published
    gateway = whole["services"]["gateway"]["environment"]["VESTIBULE_GATEWAY_TRUSTED_PROXIES"]
    (front,) = whole["networks"]["front"]["ipam"]["config"]
    assert gateway.split(",") == [front["subnet"]] and re.fullmatch(r"10\.[\d.]+/28", front["subnet"]), (gateway, front)
