"""Invalid ID tokens: each is refused with 401 and a code with the reason."""

import json

import pytest

import tokens

# Faults that the simulator is asked to make, and the expected codes; the same for both providers.
FAULTS = {
    "expired": (dict(issued_in=-200_000, expires_in=3600), "TOKEN_EXPIRED"),
    "expired just beyond the leeway": (dict(issued_in=-3600, expires_in=3530), "TOKEN_EXPIRED"),
    "older than a day whatever it says": (dict(issued_in=-90_000, expires_in=180_000), "TOKEN_EXPIRED"),
    "of the future": (dict(issued_in=3600), "TOKEN_NOT_YET_VALID"),
    "foreign audience": (dict(audience="com.example.other"), "TOKEN_AUDIENCE"),
    "one audience of two is foreign": (
        dict(claims={"aud": ["com.example.app", "example.apps.googleusercontent.com", "evil"]}), "TOKEN_AUDIENCE"),
    "no audience": (dict(omit=["aud"]), "TOKEN_AUDIENCE"),
    "wrong issuer": (dict(issuer="https://appleid.apple.com.evil.example"), "TOKEN_ISSUER"),
    "no issuer": (dict(omit=["iss"]), "TOKEN_ISSUER"),
    "unsigned": (dict(algorithm="none"), "TOKEN_UNSIGNED"),
    "signed with the public key as a secret": (dict(algorithm="HS256"), "TOKEN_ALGORITHM"),
    "wrong key under the right name": (dict(signing_key="foreign"), "TOKEN_SIGNATURE"),
    "wrong key": (dict(signing_key="unknown"), "TOKEN_KEY_UNKNOWN"),
    "other nonce": (dict(claims={"nonce": "another"}), "TOKEN_NONCE_MISMATCH"),
    "no nonce": (dict(omit=["nonce"]), "TOKEN_NONCE_MISSING"),
    "nonce of another type": (dict(claims={"nonce": 7}), "TOKEN_NONCE_MISMATCH"),
    "no subject": (dict(omit=["sub"]), "TOKEN_SUBJECT"),
    "no expiry": (dict(omit=["exp"]), "TOKEN_MALFORMED"),
    "expiry of another type": (dict(claims={"exp": "tomorrow"}), "TOKEN_MALFORMED"),
}


def present(app, provider, request):
    return app.gateway.post(f"/auth/{provider}", request)


@pytest.mark.parametrize("provider", ["apple", "google"])
@pytest.mark.parametrize("fault", FAULTS)
def test_refused_by_its_claims_or_signature(new_app, provider, fault):
    overrides, code = FAULTS[fault]
    app = new_app()
    ask = app.ask_apple if provider == "apple" else app.ask_google
    present(app, provider, ask(**overrides)).problem(401, code)
    # No account was created: the user is new with a valid token.
    assert app.sign_in(provider)["is_new_user"] is True


def test_the_audience_is_named_in_development(new_app):
    """`vestibule run` enables this."""
    app = new_app()
    problem = present(app, "apple", app.ask_apple(audience="com.example.other")).problem(401, "TOKEN_AUDIENCE")
    assert problem["detail"].endswith("Its audience is com.example.other.")


def test_wrong_nonce_of_the_app(new_app):
    app = new_app()
    present(app, "apple", app.ask_apple() | {"nonce": "not the one"}).problem(401, "TOKEN_NONCE_MISMATCH")


def test_apples_claim_must_be_the_hash_of_the_nonce(new_app):
    app = new_app()
    present(app, "apple", app.ask_apple("n" * 32, claim_nonce="n" * 32)).problem(401, "TOKEN_NONCE_MISMATCH")


def test_wrong_authorization_code(new_app):
    app = new_app()
    present(app, "apple", app.ask_apple() | {"authorization_code": "c0.0.other"}).problem(401, "TOKEN_CODE_HASH")


RS256 = tokens.encode(b'{"alg": "RS256"}')


@pytest.mark.parametrize("token, code", [
    ("x", "TOKEN_MALFORMED"), ("not.a.token", "TOKEN_MALFORMED"), ("a.b.c.d", "TOKEN_MALFORMED"),
    ("..", "TOKEN_MALFORMED"), ("é.é.é", "TOKEN_MALFORMED"), (f"{RS256}.e30.", "TOKEN_UNSIGNED"),
    (f"{RS256}.e30.AAAA", "TOKEN_KEY_UNKNOWN"), ("x" * 60_000, "TOKEN_MALFORMED")], ids=range(8))
def test_no_token_at_all(gateway, token, code):
    gateway.post("/auth/apple", {"identity_token": token, "nonce": "n"}).problem(401, code)


def test_changed_claims(new_app):
    """A valid signature over other claims."""
    app = new_app()
    request = app.ask_apple()
    header, _, signature = request["identity_token"].split(".")
    _, claims = tokens.parts(request["identity_token"])
    forged = tokens.encode(json.dumps(claims | {"sub": "000000.someone.0000"}).encode())
    present(app, "apple", request | {"identity_token": f"{header}.{forged}.{signature}"}).problem(401, "TOKEN_SIGNATURE")


def test_tokens_of_the_other_provider(new_app):
    app = new_app()
    apple, google = app.ask_apple(), app.ask_google()
    present(app, "google", {"id_token": apple["identity_token"], "nonce": apple["nonce"]}).problem(
        401, "TOKEN_KEY_UNKNOWN")
    present(app, "apple", {"identity_token": google["id_token"], "nonce": google["nonce"]}).problem(
        401, "TOKEN_KEY_UNKNOWN")


@pytest.mark.parametrize("kind", ["access_token", "id_token"])
def test_our_own_tokens_open_no_session(app, kind):
    request = {"identity_token": app.session[kind], "nonce": "n"}
    app.gateway.post("/auth/apple", request).problem(401, "TOKEN_ALGORITHM")


def test_our_refresh_token_opens_no_session(app):
    app.gateway.post("/auth/apple", {"identity_token": app.refresh_token, "nonce": "n"}).problem(
        401, "TOKEN_MALFORMED")


def test_replayed_after_its_session_was_refreshed(new_app):
    """A client that refreshes has got the answer, so the token is sent by somebody else now."""
    app = new_app()
    request = app.ask_apple()
    app.present("apple", request).expect(200)
    app.refresh().expect(200)
    app.gateway.post("/auth/apple", request).problem(401, "TOKEN_REPLAYED")
    app.get("/me").expect(200)


def test_replayed_after_its_session_was_ended(new_app):
    app = new_app()
    request = app.ask_google()
    app.present("google", request).expect(200)
    app.post("/auth/sign-out").expect(204)
    app.gateway.post("/auth/google", request).problem(401, "TOKEN_REPLAYED")


def test_replayed_after_a_minute(new_app, stack):
    app = new_app()
    request = app.ask_apple()
    first = app.present("apple", request).expect(200)
    # The minute passes in the database, not in the test.
    moved = stack.sql(f"""
        UPDATE identity.sign_ins SET created_at = created_at - interval '61 seconds'
        WHERE session_id = '{first["session_id"]}' RETURNING 1;""")
    assert moved == "1"
    app.gateway.post("/auth/apple", request).problem(401, "TOKEN_REPLAYED")
    # The session of the first sign-in stays valid.
    app.get("/me").expect(200)
    app.refresh().expect(200)


def test_replayed_without_the_nonce(new_app):
    app = new_app()
    request = app.ask_apple()
    app.present("apple", request).expect(200)
    app.gateway.post("/auth/apple", request | {"nonce": "guess"}).problem(401, "TOKEN_NONCE_MISMATCH")
