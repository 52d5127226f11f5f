"""Apps whose audiences take no nonces but the server's: a provider's file with `nonce: server`, the gateway and the simulator."""

import base64
import concurrent.futures
import json
import struct
import time

import pytest

from app import APPLE_CLIENT, GOOGLE_CLIENT, App, sha256_hex
from stack import Stack, short_folder

OTHER_APPLE_CLIENT = "com.example.debug"
CLIENTS = {"apple": APPLE_CLIENT, "google": GOOGLE_CLIENT}
SECONDS = 600


@pytest.fixture(scope="module")
def strict():
    """A stack of its own, whose apps must ask for their nonces."""
    with short_folder() as parent:
        stack = Stack(parent / "data", VESTIBULE_LOG_LEVEL="trace")
        simulator = f"http://{stack.addresses['simulator']}"
        file = parent / "providers.json"
        file.write_text(json.dumps({"providers": [
            {"name": "apple", "keys_url": f"{simulator}/apple/auth/keys", "audiences": [
                {"id": client, "nonce": "server"} for client in (APPLE_CLIENT, OTHER_APPLE_CLIENT)]},
            {"name": "google", "keys_url": f"{simulator}/google/oauth2/v3/certs", "access_tokens": "google",
             "token_info_url": f"{simulator}/google/tokeninfo", "user_info_url": f"{simulator}/google/oauth2/v3/userinfo",
             "audiences": [{"id": GOOGLE_CLIENT, "kind": "web", "match": "raw", "nonce": "server"}]},
        ]}))
        stack.environment["VESTIBULE_IDENTITY_PROVIDERS_FILE"] = str(file)
        try:
            stack.start()
            yield stack
            assert stack.stop() == 0, stack.output
            stack.expect_no_confidences()
        finally:
            stack.kill_all()


@pytest.fixture
def strict_app(strict):
    return App(strict)


def challenge(app, provider, client=None):
    """A nonce of the server's for an app."""
    order = {"provider": provider, "client_id": client or CLIENTS[provider]}
    answer = app.gateway.post("/auth/challenge", order)
    told = answer.expect(200)
    assert told["expires_in"] == SECONDS and answer.headers["Cache-Control"] == "no-store"
    app.stack.confidential.add(told["nonce"])
    return told["nonce"]


def ask(app, provider, nonce, client=None):
    """What the provider gives an app for a nonce: Apple's SDK is handed its hash, Google's the nonce itself."""
    client = client or CLIENTS[provider]
    if provider == "apple":
        return app.ask_apple(nonce=nonce, claim_nonce=sha256_hex(nonce), client_id=client)
    return app.ask_google(nonce=nonce, claim_nonce=nonce, client_id=client)


@pytest.mark.parametrize("provider", CLIENTS)
def test_a_nonce_of_the_servers_opens_a_session(strict_app, provider):
    request = ask(strict_app, provider, challenge(strict_app, provider))
    strict_app.present(provider, request).expect(200)
    assert strict_app.get("/me").expect(200)["user_id"] == strict_app.user_id
    strict_app.refresh().expect(200)


@pytest.mark.parametrize("provider", CLIENTS)
def test_no_other_nonce_does(strict_app, provider):
    app = strict_app
    other = {"apple": "google", "google": "apple"}[provider]
    foreign = [
        "of the app's own making", challenge(app, other), challenge(app, "apple", OTHER_APPLE_CLIENT),
        changed(challenge(app, provider)), prolonged(challenge(app, provider)), challenge(app, provider) + "A"]
    for nonce in foreign:
        app.present(provider, ask(app, provider, nonce)).problem(401, "NONCE_UNKNOWN")
    mine = challenge(app, provider)
    for told in ({"nonce": ""}, {"nonce": None}):
        app.present(provider, ask(app, provider, mine) | told).problem(401, "TOKEN_NONCE_MISSING")
    another = ask(app, provider, mine) | {"nonce": challenge(app, provider)}
    app.present(provider, another).problem(401, "TOKEN_NONCE_MISMATCH")
    # What the provider was to be given is the other form.
    swapped = mine if provider == "apple" else sha256_hex(mine)
    asked = app.ask_apple if provider == "apple" else app.ask_google
    app.present(provider, asked(nonce=mine, claim_nonce=swapped)).problem(401, "TOKEN_NONCE_MISMATCH")
    # Nothing of that used it up.
    app.present(provider, ask(app, provider, mine)).expect(200)


def changed(nonce):
    """The nonce with another of its random bytes."""
    content = bytearray(decoded(nonce))
    content[10] ^= 1
    return encoded(content)


def prolonged(nonce):
    """The nonce as if it were good for a day more."""
    content = decoded(nonce)
    end, = struct.unpack(">q", content[:8])
    assert abs(end - time.time() - SECONDS) < 60, "it says when it ends"
    return encoded(struct.pack(">q", end + 86_400) + content[8:])


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encoded(content):
    return base64.urlsafe_b64encode(bytes(content)).decode().rstrip("=")


def test_one_nonce_buys_one_session_for_each_token(strict, strict_app):
    """The token is what is used up: again it is refused once the session has moved on, and so it is for somebody else."""
    request = ask(strict_app, "apple", challenge(strict_app, "apple"))
    strict_app.present("apple", request).expect(200)
    first = strict_app.session
    # An answer that was lost: the same session again.
    strict_app.present("apple", request).expect(200)
    assert strict_app.session["session_id"] == first["session_id"]
    strict_app.refresh().expect(200)
    App(strict).present("apple", request).problem(401, "TOKEN_REPLAYED")


def test_what_carries_no_nonce_opens_nothing(strict_app):
    app = strict_app
    code = ask(app, "apple", challenge(app, "apple"))["authorization_code"]
    app.present("apple", {"authorization_code": code, "client_id": APPLE_CLIENT}).problem(401, "NONCE_REQUIRED")
    app.present("google", {"access_token": "ya29.any", "client_id": GOOGLE_CLIENT}).problem(401, "NONCE_REQUIRED")


def test_the_dialects_ask_for_it_too(strict, strict_app):
    """Their routes hand on the nonce that the app has asked for."""
    def enter(nonce):
        request = ask(strict_app, "google", nonce)
        return strict_app.gateway.post(
            "/auth/v1/token?grant_type=id_token",
            {"provider": "google", "id_token": request["id_token"], "nonce": request["nonce"]})

    told = enter(challenge(strict_app, "google")).expect(200)
    strict.confidential.update((told["access_token"], told["refresh_token"]))
    assert enter("of the app's own making").expect(400)["error_code"] == "invalid_credentials"


def test_many_ask_at_once_and_each_gets_another(strict, strict_app):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        nonces = list(pool.map(lambda _: challenge(App(strict), "apple"), range(64)))
    assert len(set(nonces)) == 64


def test_asking_counts_as_what_leads_to_sign_in_does(strict):
    """A stranger's requests are bounded by address, whatever he asks for."""
    app = App(strict)
    answers = [app.gateway.post("/auth/challenge", {"provider": "apple", "client_id": APPLE_CLIENT}) for _ in range(400)]
    refused = [answer for answer in answers if answer.status != 200]
    assert refused, "400 at once, where 100 may come at once and 50 a second"
    for answer in refused:
        answer.problem(429, "RATE_LIMITED")
