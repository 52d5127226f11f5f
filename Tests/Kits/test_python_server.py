"""The sample of a Python backend (Sources/Kits/Samples/PythonServer) against `vestibule run`."""

import hashlib
import http.server
import importlib.util
import json
import pathlib
import secrets
import subprocess
import sys
import threading
import time

import jwt
import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import ec

from app import App
from stack import clean_environment, new_stack

SERVER = pathlib.Path(__file__).resolve().parents[2] / "Sources/Kits/Samples/PythonServer/server.py"


def part(name):
    """A part of the sample by itself. Its name may be another module's here."""
    specification = importlib.util.spec_from_file_location(f"sample_{name}", SERVER.with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


tokens, introspection = part("tokens"), part("introspection")


@pytest.fixture(scope="module")
def secret():
    return secrets.token_hex(32)


@pytest.fixture(scope="module")
def stack(tmp_path_factory, secret):
    file = tmp_path_factory.mktemp("clients") / "introspection-clients"
    file.write_text(f"orders:{hashlib.sha256(secret.encode()).hexdigest()}\n")
    file.chmod(0o644)
    with new_stack(VESTIBULE_LOG_LEVEL="trace", VESTIBULE_GATEWAY_INTROSPECTION_CLIENTS_FILE=str(file)) as stack:
        stack.start()
        yield stack
        assert stack.stop() == 0, stack.output
        stack.expect_no_confidences()


@pytest.fixture(scope="module")
def orders(stack, secret):
    """The URL of the sample's orders."""
    environment = {**clean_environment(), "ISSUER": f"http://{stack.addresses['gateway']}", "CLIENT_ID": "orders", "CLIENT_SECRET": secret}
    with subprocess.Popen([sys.executable, SERVER, "0"], env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().strip() + "/orders"
        finally:
            server.kill()


@pytest.fixture
def app(stack):
    app = App(stack)
    app.sign_in()
    return app


def call(orders, token, verb="GET"):
    return requests.request(verb, orders, headers={"Authorization": f"Bearer {token}"} if token else {}, timeout=15)


@pytest.mark.parametrize("verb", ["GET", "DELETE"])
def test_a_user_is_known(orders, app, verb):
    answer = call(orders, app.access_token, verb)
    assert answer.status_code == 200 and answer.json() == []


@pytest.mark.parametrize("verb", ["GET", "DELETE"])
def test_other_tokens_are_rejected(orders, app, verb):
    header, payload, signature = app.access_token.split(".")
    unsigned = jwt.encode(jwt.decode(app.access_token, options={"verify_signature": False}), None, "none", headers={"typ": "at+jwt"})
    symmetric = jwt.encode({"sub": app.user_id}, "k" * 32, "HS256", headers={"typ": "at+jwt", "kid": jwt.get_unverified_header(app.access_token)["kid"]})
    stranger = jwt.encode({"sub": app.user_id}, "k" * 32, "HS256", headers={"typ": "at+jwt", "kid": "unknown"})
    others = [None, "x", app.refresh_token, app.session["id_token"], unsigned, symmetric, stranger]
    # By the signature alone; the server itself knows its tokens by their MAC.
    others += [f"{header}.{payload}.{'A' * len(signature)}"] if verb == "GET" else []
    for token in others:
        answer = call(orders, token, verb)
        assert answer.status_code == 401 and answer.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"', (token, answer.text)


def test_an_end_of_the_session_is_known_at_once_by_introspection_alone(orders, app):
    assert call(orders, app.access_token).status_code == 200
    app.gateway.post("/auth/sign-out", {"refresh_token": app.refresh_token}).expect(204)
    assert call(orders, app.access_token, "DELETE").status_code == 401
    assert call(orders, app.access_token).status_code == 200, "until it expires, as the page says"


def test_without_a_server_nothing_is_said_of_a_token(app):
    environment = {**clean_environment(), "ISSUER": "http://127.0.0.1:9", "CLIENT_ID": "orders", "CLIENT_SECRET": "none"}
    with subprocess.Popen([sys.executable, SERVER, "0"], env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().strip() + "/orders"
            assert call(url, app.access_token).status_code == call(url, app.access_token, "DELETE").status_code == 503
        finally:
            server.kill()


class KeyServer:
    """A server of keys, which can fail."""

    def __init__(self, body):
        self.body, self.status, self.count, self.seconds = body, 200, 0, 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.count += 1
                time.sleep(outer.seconds)
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(outer.body)))
                self.end_headers()
                self.wfile.write(outer.body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def key_server():
    public = ec.generate_private_key(ec.SECP256R1()).public_key()
    key = jwt.algorithms.ECAlgorithm.to_jwk(public, as_dict=True) | {"kid": "one", "use": "sig", "alg": "ES256"}
    served = KeyServer(json.dumps({"keys": [key]}).encode())
    yield served
    served.server.shutdown()
    served.server.server_close()


@pytest.fixture
def clock(monkeypatch):
    """The sample's clock, in a list."""
    now = [1000.0]
    monkeypatch.setattr(tokens.time, "monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize(("status", "body"), [(503, b"busy"), (200, b"<html>Sign in to the hotel"), (200, b"{}"), (200, b'{"keys":[]}')])
def test_keys_that_are_there_are_good_while_the_server_is_not(key_server, clock, status, body):
    keys = tokens.KeySet(key_server.url)
    good = key_server.body
    assert keys.key("one") is not None and key_server.count == 1
    key_server.status, key_server.body = status, body
    clock[0] += 301
    assert keys.key("one") is not None and key_server.count == 2
    # A failure is remembered.
    assert keys.key("one") is not None and key_server.count == 2
    with pytest.raises(OSError):
        keys.key("two")
    assert key_server.count == 2
    key_server.status, key_server.body = 200, good
    clock[0] += 11
    assert keys.key("two") is None and keys.key("one") is not None and key_server.count == 3


def test_a_request_whose_key_is_there_does_not_wait_for_one_that_fetches(key_server, clock):
    keys = tokens.KeySet(key_server.url)
    assert keys.key("one") is not None
    clock[0] += 301
    key_server.seconds = 1
    fetching = threading.Thread(target=keys.key, args=("one",))
    fetching.start()
    while key_server.count < 2:
        time.sleep(0.01)
    begun = time.perf_counter()
    assert keys.key("one") is not None and time.perf_counter() - begun < 0.5
    fetching.join()
    assert key_server.count == 2


def test_the_first_requests_wait_for_one_fetch(key_server, clock):
    keys = tokens.KeySet(key_server.url)
    key_server.seconds = 0.5
    found = []
    threads = [threading.Thread(target=lambda: found.append(keys.key("one"))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 5 and None not in found and key_server.count == 1


def test_a_page_in_the_place_of_introspection_says_nothing(key_server):
    key_server.body = b"<html>Sign in to the hotel"
    with pytest.raises(OSError):
        introspection.Introspection(key_server.url, "orders", "secret").claims("token")
