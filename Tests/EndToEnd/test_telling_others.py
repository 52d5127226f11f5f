"""What services that take our tokens ask the gateway: the metadata, and whether a token is good; and nonces of the server's."""

import base64
import hashlib
import secrets
import time
import urllib.parse

import pytest

from app import sha256_hex
from bound_app import BoundApp
from other_gateway import another_gateway

ID = "orders"


@pytest.fixture(scope="module")
def secret(stack):
    secret = secrets.token_hex(32)
    stack.confidential.add(secret)
    return secret


@pytest.fixture(scope="module")
def asked(stack, secret, tmp_path_factory):
    """A gateway whose clients may ask about tokens."""
    file = tmp_path_factory.mktemp("introspection") / "clients"
    file.write_text(f"# services of ours\n{ID}:{hashlib.sha256(secret.encode()).hexdigest()}\n")
    with another_gateway(stack, INTROSPECTION_CLIENTS_FILE=str(file)) as gateway:
        yield gateway


def introspect(gateway, token, secret):
    credentials = base64.b64encode(f"{ID}:{secret}".encode()).decode()
    return gateway.send(
        "POST", "/auth/introspect", body=urllib.parse.urlencode({"token": token}).encode(),
        headers={"Content-Type": "application/x-www-form-urlencoded", "Authorization": f"Basic {credentials}"})


def test_a_token_is_active_while_its_session_lives(asked, secret, app):
    told = introspect(asked, app.access_token, secret).expect(200)
    assert told["active"] is True and told["token_use"] == "access_token" and told["sub"] == app.user_id
    assert told["sid"] == app.session["session_id"] and told["client_id"] == "com.example.app"
    assert set(told) == {"active", "token_use", "token_type", "sub", "sid", "client_id", "iss", "aud", "exp", "acr", "auth_time"}, "nothing secret"
    assert told["acr"] == "urn:vestibule:acr:provider" and 0 <= time.time() - told["auth_time"] < 60
    assert introspect(asked, app.refresh_token, secret).expect(200)["token_use"] == "refresh_token"
    assert introspect(asked, app.session["id_token"], secret).expect(200) == {"active": False}
    app.post("/auth/sign-out").expect(204)
    for token in (app.access_token, app.refresh_token):
        assert introspect(asked, token, secret).expect(200) == {"active": False}


def test_a_bound_token_says_which_key_it_needs(stack, asked, secret):
    app = BoundApp(stack)
    app.sign_in()
    for token in (app.access_token, app.refresh_token):
        assert introspect(asked, token, secret).expect(200)["cnf"] == {"jkt": app.key.thumbprint}
    assert introspect(asked, app.access_token, secret).expect(200)["token_type"] == "DPoP"


def test_nobody_else_may_introspect(asked, gateway, app, secret):
    for wrong in (secret[:-1], "", app.access_token):
        answer = introspect(asked, app.access_token, wrong)
        assert answer.status == 401 and answer.json["error"] == "invalid_client"
        assert answer.headers["WWW-Authenticate"].startswith("Basic ")
    refused = introspect(gateway, app.access_token, secret)
    assert refused.status == 404 and refused.code == "INTROSPECTION_NOT_CONFIGURED"


def test_the_metadata_leads_to_what_is_there(stack, asked, gateway, app):
    answer = gateway.get("/.well-known/oauth-authorization-server")
    metadata = answer.expect(200)
    assert metadata["issuer"] == f"http://{stack.addresses['gateway']}"
    assert "introspection_endpoint" not in metadata and "max-age" in answer.headers["Cache-Control"]
    path = urllib.parse.urlsplit(metadata["jwks_uri"]).path
    assert gateway.get(path).expect(200)["keys"]
    told = asked.get("/.well-known/oauth-authorization-server").expect(200)
    assert urllib.parse.urlsplit(told["introspection_endpoint"]).path == "/auth/introspect"


def test_a_nonce_of_the_servers_signs_in(stack, new_app):
    app = new_app()
    order = {"provider": "apple", "client_id": "com.example.app"}
    challenge = app.gateway.post("/auth/challenge", order).expect(200)
    assert challenge["expires_in"] == 600
    assert challenge["nonce"] != app.gateway.post("/auth/challenge", order).expect(200)["nonce"]
    request = app.ask_apple(nonce=challenge["nonce"], claim_nonce=sha256_hex(challenge["nonce"]))
    app.present("apple", request).expect(200)
    app.gateway.post("/auth/challenge", {"provider": "myspace"}).problem(404, "PROVIDER_UNKNOWN")
    app.gateway.post("/auth/challenge", {"provider": "apple", "client_id": "x"}).problem(
        422, "CLIENT_UNKNOWN", [("client_id", "CLIENT_UNKNOWN")])
