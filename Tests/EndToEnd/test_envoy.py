"""Envoy's jwt_authn with our key set, as in docs/sessions/revocations-everywhere.md: which tokens it accepts, and what it doesn't check.

Skipped if Envoy isn't installed: `make bench` fetches it.
"""

import base64
import contextlib
import json
import pathlib
import subprocess

import pytest

import curl
import process_table
from stack import free_ports

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIGURATION = ROOT / "Tests" / "EndToEnd" / "envoy.yaml"
PROGRAM = next(ROOT.glob(".venv-bench/lib/python*/site-packages/envoy/_bin/envoy"), None)

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="Envoy isn't there")


def configuration(port, gateway, issuer):
    """The configuration of the page, for this stack: other addresses, and no TLS to the gateway."""
    text = CONFIGURATION.read_text()
    plain, secured = text.split("    # Taken out where the gateway is reached without TLS.\n")
    assert secured.lstrip().startswith("transport_socket:")
    host, gateway_port = gateway.rsplit(":", 1)
    changes = {
        "issuer: https://api.example.com": f"issuer: {issuer}",
        "https://api.example.com/.well-known": f"http://{gateway}/.well-known",
        "port_value: 10000": f"port_value: {port}",
        "address: api.example.com, port_value: 443": f"address: {host}, port_value: {gateway_port}",
    }
    for before, after in changes.items():
        assert before in plain
        plain = plain.replace(before, after)
    return plain


@contextlib.contextmanager
def envoy(folder, stack, token):
    """Envoy before a service of the test; returns its URL."""
    (port,) = free_ports(1)
    path, log = folder / "envoy.yaml", folder / "envoy.log"
    path.write_text(configuration(port, stack.addresses["gateway"], claims(token)["iss"]))
    with log.open("w") as file:
        process = subprocess.Popen(
            [PROGRAM, "--config-path", path, "--concurrency", "1", "--disable-hot-restart", "--log-level", "error"],
            stdout=file, stderr=file)
    try:
        def is_up():
            assert process.poll() is None, log.read_text()
            with contextlib.suppress(OSError):
                return curl.ask(f"http://127.0.0.1:{port}/").status == 401
            return False

        process_table.wait_until(is_up, 30, log.read_text)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.kill()
        process.wait()


def claims(token):
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def ask(url, token):
    return curl.ask(url, "--header", f"authorization: Bearer {token}")


def test_envoy_accepts_tokens_by_our_keys_and_no_others(stack, app, tmp_path):
    with envoy(tmp_path, stack, app.access_token) as url:
        answer = ask(url, app.access_token)
        assert answer.status == 200, answer.content
        # The claims that the service gets about the caller.
        (told,) = answer.headers["x-jwt-payload"]
        assert claims(f".{told}")["sub"] == app.user_id
        for bad in (app.access_token[:-8] + "AAAAAAAA", app.session["id_token"], app.refresh_token, "none"):
            assert ask(url, bad).status in (401, 403), bad
        assert curl.ask(url).status == 401


def test_envoy_accepts_an_ended_session_until_its_token_expires(stack, app, tmp_path):
    token = app.access_token
    with envoy(tmp_path, stack, token) as url:
        app.post("/auth/sign-out").expect(204)
        app.gateway.get("/me", token=token).problem(401, "SESSION_REVOKED")
        # WatchRevocations closes this gap.
        assert ask(url, token).status == 200
