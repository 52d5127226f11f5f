"""Notices from Apple and Google through the gateway: signed by the simulator, and by PyJWT with its keys."""

import json
import time
import uuid

import jwt
import pytest

import process_table
import tokens
from app import APPLE_CLIENT, GOOGLE_CLIENT, App
from metrics import Metrics

APPLE, GOOGLE = "/auth/apple/notifications", "/auth/google/risc"
SECONDS = 15


@pytest.fixture
def people(stack):
    """A user who signed in with each provider, and the provider's id of them."""
    def sign_in(provider):
        app = App(stack)
        app.sign_in(provider)
        request = app.ask_apple() if provider == "apple" else app.ask_google()
        token = request.get("identity_token") or request["id_token"]
        return app, tokens.parts(token)[1]["sub"]

    return sign_in


def tell(stack, provider, kind, subject=None, to=True, **more):
    """Makes the simulator create a notice, and send it to the gateway unless `to` is false."""
    path = {"apple": APPLE, "google": GOOGLE}[provider]
    order = {"client_id": APPLE_CLIENT if provider == "apple" else GOOGLE_CLIENT, "type": kind, **more}
    if subject:
        order["sub"] = subject
    if to:
        order["to"] = f"http://{stack.addresses['gateway']}{path}"
    control = {"apple": "/control/apple/notify", "google": "/control/google/risc"}[provider]
    return stack.simulator.post(control, order).expect(200)


def post_google(gateway, token, kind="application/secevent+jwt"):
    return gateway.send("POST", GOOGLE, body=token.encode(), headers={"Content-Type": kind})


def is_signed_in(app):
    answer = app.get("/me")
    assert answer.status == 200 or answer.code == "SESSION_REVOKED", answer.content
    return answer.status == 200


def expect_signed_out(app):
    process_table.wait_until(lambda: not is_signed_in(app), SECONDS, "the end of the session")


def count(stack, **labels):
    return Metrics(stack.metrics_addresses["identity"]).sum("vestibule_identity_provider_notices_total", **labels)


def events(stack, app):
    """The audit log's events of notices about a user."""
    rows = stack.sql(
        "SELECT details->>'notice' FROM identity.security_events "
        f"WHERE user_id = '{app.user_id}' AND kind = 'provider_notice' ORDER BY event_id")
    return rows.split()


@pytest.mark.parametrize("provider, kind", [
    ("apple", "consent-revoked"), ("apple", "account-delete"), ("apple", "account-deleted"),
    ("google", "sessions-revoked"), ("google", "tokens-revoked")])
def test_sessions_end(stack, people, provider, kind):
    app, subject = people(provider)
    other, _ = people(provider)
    assert tell(stack, provider, kind, subject)["statuses"] == [200 if provider == "apple" else 202]
    expect_signed_out(app)
    assert is_signed_in(other)
    assert len(events(stack, app)) == 1
    # The stored notice no longer has its subject.
    process_table.wait_until(
        lambda: stack.sql(f"SELECT count(*) FROM identity.provider_notices WHERE subject = '{subject}'") == "0",
        SECONDS, "the end of the notice")
    # Tokens have their issue time in whole seconds.
    time.sleep(1.1)
    app.sign_in(provider)
    assert is_signed_in(app)


def test_a_hijacked_account(stack, people):
    app, subject = people("google")
    tell(stack, "google", "account-disabled", subject, reason="hijacking")
    expect_signed_out(app)
    time.sleep(1.1)
    app.present("google", app.ask_google()).problem(401, "PROVIDER_ACCOUNT_DISABLED")
    tell(stack, "google", "account-enabled", subject)
    process_table.wait_until(lambda: len(events(stack, app)) == 2, SECONDS, "the second notice")
    app.sign_in("google")
    assert is_signed_in(app)


def test_notices_that_change_nothing(stack, people):
    app, subject = people("google")
    assert tell(stack, "google", "verification", state="hello")["statuses"] == [202]
    assert tell(stack, "google", "account-credential-change-required", subject)["statuses"] == [202]
    assert tell(stack, "google", "something-new", subject)["statuses"] == [202]
    process_table.wait_until(
        lambda: events(stack, app) == ["credential_change_required"], SECONDS, "the event in the audit log")
    assert is_signed_in(app)


def test_a_relay_address_that_is_not_forwarded(stack, people):
    app, subject = people("apple")
    unreachable = ("SELECT is_email_unreachable FROM identity.provider_identities "
                   f"WHERE provider = 'apple' AND subject = '{subject}'")
    for kind, expected in (("email-disabled", "t"), ("email-enabled", "f")):
        tell(stack, "apple", kind, subject, email="x@privaterelay.appleid.com")
        process_table.wait_until(lambda: stack.sql(unreachable) == expected, SECONDS, kind)
    assert is_signed_in(app)


def test_a_repeated_notice_is_acknowledged_and_does_nothing(stack, people):
    app, subject = people("apple")
    stored, repeated = (count(stack, provider="apple", outcome=word) for word in ("stored", "repeated"))
    told = tell(stack, "apple", "consent-revoked", subject, times=3)
    assert told["statuses"] == [200, 200, 200]
    expect_signed_out(app)
    time.sleep(1.1)
    app.sign_in()
    stack.gateway.post(APPLE, {"payload": told["notice"]}).expect(200)
    assert is_signed_in(app) and events(stack, app) == ["consent_revoked"]
    assert count(stack, provider="apple", outcome="stored") == stored + 1
    assert count(stack, provider="apple", outcome="repeated") == repeated + 3


@pytest.mark.parametrize("overrides, code, word", [
    ({"audience": "com.example.stranger"}, "NOTICE_AUDIENCE", "invalid_audience"),
    ({"issuer": "https://evil.example"}, "NOTICE_ISSUER", "invalid_issuer"),
    ({"signing_key": "foreign"}, "NOTICE_SIGNATURE", "invalid_key"),
    ({"signing_key": "unknown"}, "NOTICE_KEY_UNKNOWN", "invalid_key"),
    ({"algorithm": "none"}, "NOTICE_SIGNATURE", "invalid_key"),
    ({"algorithm": "HS256"}, "NOTICE_SIGNATURE", "invalid_key"),
    ({"issued_in": -31 * 86400}, "NOTICE_EXPIRED", "invalid_request"),
    ({"issued_in": 3600}, "NOTICE_EARLY", "invalid_request"),
    ({"omit": ["jti"]}, "NOTICE_MALFORMED", "invalid_request")])
def test_forged_and_foreign_notices(stack, people, overrides, code, word):
    for provider in ("apple", "google"):
        app, subject = people(provider)
        before = count(stack, provider=provider, outcome=code.lower())
        kind = "consent-revoked" if provider == "apple" else "sessions-revoked"
        notice = tell(stack, provider, kind, subject, to=False, overrides=overrides)["notice"]
        if provider == "apple":
            stack.gateway.post(APPLE, {"payload": notice}).problem(400, code)
        else:
            told = post_google(stack.gateway, notice).expect(400)
            assert (told["err"], told["code"]) == (word, code) and told["description"]
        assert count(stack, provider=provider, outcome=code.lower()) == before + 1
        assert is_signed_in(app)


def test_malformed_notices(stack, people):
    app, _ = people("google")
    for text in ("", "x", "a.b.c", app.access_token, app.ask_google()["id_token"]):
        assert post_google(stack.gateway, text).expect(400)["code"] in ("NOTICE_MALFORMED", "NOTICE_SIGNATURE")
    post_google(stack.gateway, "a.b.c", kind="application/jwt").expect(415)
    post_google(stack.gateway, "a" * 70_000).expect(413)
    stack.gateway.post(APPLE, {}).problem(400, "REQUEST_INVALID", [("payload", "REQUIRED")])


# By another implementation

def provider_key(stack, provider):
    """The simulator's current key, from its state file."""
    path = process_table.environment(stack.process_of("simulator"))["VESTIBULE_SIMULATOR_STATE_FILE"]
    with open(path) as file:
        return json.load(file)["keys"][provider][0]


def test_pyjwt_verifies_what_the_simulator_signs(stack):
    for provider, path, audience in (
            ("apple", "/apple/auth/keys", APPLE_CLIENT), ("google", "/google/oauth2/v3/certs", GOOGLE_CLIENT)):
        told = tell(stack, provider, "verification", to=False)
        keys = jwt.PyJWKSet.from_dict(stack.simulator.get(path).expect(200))
        header = jwt.get_unverified_header(told["notice"])
        claims = jwt.decode(told["notice"], keys[header["kid"]], algorithms=["RS256"], audience=audience)
        assert claims["jti"] == told["jti"]


def test_notices_signed_by_pyjwt_are_accepted(stack, people):
    app, subject = people("google")
    pem = provider_key(stack, "google")
    kid = jwt.get_unverified_header(tell(stack, "google", "verification", to=False)["notice"])["kid"]
    issuer = "https://accounts.google.com/"
    claims = {
        "iss": issuer, "aud": [GOOGLE_CLIENT, "elsewhere"], "iat": int(time.time()), "jti": uuid.uuid4().hex,
        "events": {"https://schemas.openid.net/secevent/risc/event-type/sessions-revoked": {
            "subject": {"subject_type": "iss-sub", "iss": issuer, "sub": subject}}}}
    token = jwt.encode(claims, pem, algorithm="RS256", headers={"kid": kid, "typ": "secevent+jwt"})
    answer = post_google(stack.gateway, token)
    assert answer.status == 202 and answer.content == b""
    expect_signed_out(app)
    forged = jwt.encode(claims | {"jti": "other"}, "a secret of thirty-two bytes, or so", algorithm="HS256",
                        headers={"kid": kid, "typ": "secevent+jwt"})
    assert post_google(stack.gateway, forged).expect(400)["err"] == "invalid_key"
