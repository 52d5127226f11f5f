"""Signing in with Apple and with Google: what is returned, what is stored, and which session is opened."""

import concurrent.futures
import time

import pytest

import tokens
from app import SESSION_MEMBERS, App


def test_answer(app, stack):
    answer = app.session
    assert set(answer) == SESSION_MEMBERS
    assert answer["token_type"] == "Bearer"
    assert answer["expires_in"] == 600
    assert answer["is_new_user"] is True
    assert answer["missing_fields"] == ["display_name", "phone_number"]
    assert answer["suggested_display_name"] == app.person.name
    for name in ("user_id", "session_id"):
        assert len(answer[name]) == 36 and answer[name] == answer[name].lower()


def test_our_tokens_verify_by_our_published_keys(app, gateway):
    answer = gateway.get("/.well-known/jwks.json")
    key_set = answer.expect(200)
    assert answer.headers["Cache-Control"].startswith("public, max-age=")
    for key in key_set["keys"]:
        assert key["kid"] and key["use"] == "sig" and key["alg"] in ("ES256", "RS256")
        assert "d" not in key, "a private key is published"

    header, claims = tokens.verify(app.access_token, key_set)
    assert header["typ"] == "at+jwt"  # RFC 9068 section 2.1
    assert {"iss", "sub", "aud", "client_id", "iat", "exp", "jti", "sid"} <= set(claims)
    assert claims["sub"] == app.user_id and claims["sid"] == app.session["session_id"]
    assert claims["iss"] == f"http://{gateway.address}" and claims["aud"] == "vestibule"
    assert claims["client_id"] == "com.example.app"
    assert claims["exp"] - claims["iat"] == app.session["expires_in"]
    assert abs(claims["iat"] - time.time()) < 60

    header, claims = tokens.verify(app.session["id_token"], key_set)
    assert header["typ"] == "JWT" and claims["aud"] == "com.example.app" and claims["sub"] == app.user_id


def test_apples_name_comes_once_and_is_kept(new_app):
    app = new_app()
    first = app.sign_in()
    assert app.told_user["name"] == {"firstName": app.person.given_name, "lastName": app.person.family_name}
    again = app.sign_in()
    assert app.told_user is None
    assert again["user_id"] == first["user_id"]
    assert again["session_id"] != first["session_id"]
    assert again["is_new_user"] is False
    assert again["suggested_display_name"] == app.person.name


def test_an_invalid_name_does_not_prevent_a_sign_in(new_app):
    """A name that can't be a display name is dropped."""
    app = new_app()
    answer = app.present("apple", app.ask_apple() | {"full_name": "x" * 500, "email": "no e-mail"}).expect(200)
    assert answer["suggested_display_name"] is None


def test_optional_members_may_be_absent_or_null(new_app):
    app = new_app()
    request = {name: value for name, value in app.ask_apple().items() if name != "authorization_code"}
    app.present("apple", request | {"full_name": None, "email": None}).expect(200)


@pytest.mark.parametrize("provider", ["apple", "google"])
def test_the_same_token_within_a_minute_returns_the_same_session(new_app, provider):
    app = new_app()
    request = app.ask_apple() if provider == "apple" else app.ask_google()
    first = app.present(provider, request).expect(200)
    again = app.present(provider, request).expect(200)
    for name in ("session_id", "user_id", "refresh_token", "is_new_user", "suggested_display_name"):
        assert again[name] == first[name], name
    # Both access tokens are valid.
    for answer in (first, again):
        app.gateway.get("/me", token=answer["access_token"]).expect(200)


def test_concurrent_sign_ins_with_one_token_open_one_session(new_app):
    app = new_app()
    request = app.ask_apple()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = [each.expect(200) for each in pool.map(lambda _: app.present("apple", request), range(8))]
    assert len({(each["session_id"], each["user_id"], each["refresh_token"]) for each in answers}) == 1


def test_concurrent_first_sign_ins_make_one_account(new_app):
    app = new_app()
    requests = [app.ask_apple() for _ in range(4)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = [each.expect(200) for each in pool.map(lambda request: app.present("apple", request), requests)]
    assert len({each["user_id"] for each in answers}) == 1
    assert len({each["session_id"] for each in answers}) == 4
    assert [each["is_new_user"] for each in answers].count(True) == 1


def test_the_same_person_at_apple_and_google_has_two_accounts(stack, new_app):
    """An e-mail doesn't identify an account: only the provider's subject does."""
    apple = new_app()
    apple.sign_in("apple")
    google = App(stack, apple.person)
    answer = google.sign_in("google")
    assert answer["is_new_user"] is True and answer["user_id"] != apple.user_id


def test_google(new_app):
    app = new_app()
    answer = app.sign_in("google")
    assert answer["is_new_user"] is True
    assert answer["missing_fields"] == ["display_name", "phone_number"]
    # Google's token contains the name.
    assert answer["suggested_display_name"] == app.person.name
    assert tokens.parts(app.access_token)[1]["client_id"] == "example.apps.googleusercontent.com"
    assert app.sign_in("google")["is_new_user"] is False


def test_google_with_the_raw_nonce(new_app):
    """Some of Google's libraries pass the nonce unchanged, others its hash."""
    app = new_app()
    nonce = "raw-nonce-of-a-web-client"
    app.present("google", app.ask_google(nonce, claim_nonce=nonce)).expect(200)


def test_google_writes_its_issuer_in_two_ways(new_app):
    app = new_app()
    app.present("google", app.ask_google(issuer="accounts.google.com")).expect(200)


def test_the_name_in_the_request_wins_over_googles(new_app, stack):
    app = new_app()
    stack.confidential.add("Quetzalcoatl")
    answer = app.present("google", app.ask_google() | {"full_name": "Quetzalcoatl", "email": app.person.email})
    assert answer.expect(200)["suggested_display_name"] == "Quetzalcoatl"


def test_truth_values_as_texts(new_app):
    """Apple sends the text "true" for true."""
    app = new_app()
    app.present("apple", app.ask_apple(text_booleans=True)).expect(200)


def test_missing_fields_shrink_as_the_profile_grows(new_app):
    app = new_app()
    assert app.sign_in()["missing_fields"] == ["display_name", "phone_number"]
    app.save(display_name=app.person.name).expect(200)
    assert app.sign_in()["missing_fields"] == ["phone_number"]
    app.save(phone_number=app.person.phone).expect(200)
    assert app.sign_in()["missing_fields"] == []
    assert app.refresh().expect(200)["missing_fields"] == []
