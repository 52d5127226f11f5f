"""The bill splitter on a bad day, as the exceptions of Supabase's client tell it."""

import time

import pytest
from supabase_auth.errors import AuthApiError, AuthError, AuthRetryableError

import process_table
import tokens
from bill_splitter import ANON_KEY
from elapsed import access_token_that_ends, credentials_older_by_two_minutes, session_unused_for
from phone import APP, BARE, Phone


def session_id(session):
    return tokens.parts(session.access_token)[1]["sid"]


@pytest.mark.parametrize("part", [0.0, 0.5], ids=["nothing came", "half of it came"])
def test_a_lost_answer_to_a_sign_in(phone, new_app, bad_network, stack, part):
    network = bad_network(phone)
    app = new_app(phone, network.address)
    credential = app.credential()
    network.lose_next(1, part)
    with pytest.raises(AuthRetryableError):
        app.sign_in(credential)
    session = app.sign_in(credential)
    assert stack.sql(f"SELECT count(*) FROM identity.sessions WHERE user_id = '{session.user.id}';") == "1"
    assert app.auth.get_user().user.id == session.user.id


def test_a_lost_answer_to_a_refresh(phone, new_app, bad_network):
    network = bad_network(phone)
    app = new_app(phone, network.address)
    first = app.sign_in()
    network.lose_next(1, 0.5)
    with pytest.raises(AuthRetryableError):
        app.auth.refresh_session()
    # The app has the old token still, which is good for a sibling of the lost one.
    assert app.session.refresh_token == first.refresh_token
    refreshed = app.keep(app.auth.refresh_session().session)
    assert session_id(refreshed) == session_id(first)
    app.keep(app.auth.refresh_session().session)


def test_a_lost_answer_to_an_update(phone, new_app, bad_network):
    network = bad_network(phone)
    app = new_app(phone, network.address)
    app.sign_in()
    network.lose_next(1)
    with pytest.raises(AuthRetryableError):
        app.auth.update_user({"data": {"full_name": phone.person.name}})
    assert app.auth.get_user().user.user_metadata["full_name"] == phone.person.name


def test_an_expired_access_token(app, stack):
    """The client sees by `expires_at` that it must refresh, and the server knows without it."""
    session = app.sign_in()
    expired = access_token_that_ends(stack, session.access_token, -60)
    with pytest.raises(AuthApiError) as raised:
        app.auth.get_user(expired)
    assert (raised.value.status, raised.value.code) == (403, "bad_jwt")
    app.auth._save_session(session.model_copy(update={"access_token": expired, "expires_at": int(time.time()) - 60}))
    refreshed = app.keep(app.session)
    assert refreshed.access_token not in (expired, session.access_token)
    assert app.auth.get_user().user.id == session.user.id


def test_a_session_that_nobody_used_for_long(app, stack):
    session = app.sign_in()
    session_unused_for(stack, session_id(session), days=31)
    with pytest.raises(AuthApiError) as raised:
        app.auth.refresh_session()
    assert (raised.value.status, raised.value.code) in REFRESH_REFUSED
    # Not until the app has signed in again.
    app.sign_in()
    assert app.auth.get_user().user.id == session.user.id


# What GoTrue answers to a refresh token that is not current.
REFRESH_REFUSED = {(400, "refresh_token_not_found"), (400, "refresh_token_already_used"), (400, "session_expired")}


def test_a_refresh_token_used_twice(app, stack):
    """Older than the one before the current one, after the grace: somebody else has it, and the session ends."""
    session = app.sign_in()
    first = session.refresh_token
    app.keep(app.auth.refresh_session().session)
    app.keep(app.auth.refresh_session().session)
    stack.sql(f"""
        UPDATE identity.sessions SET acknowledged_at = acknowledged_at - interval '61 seconds'
        WHERE session_id = '{session_id(session)}';""")
    with pytest.raises(AuthApiError) as raised:
        app.auth.refresh_session(first)
    assert (raised.value.status, raised.value.code) in REFRESH_REFUSED
    with pytest.raises(AuthApiError):
        app.auth.refresh_session()


@pytest.mark.parametrize("token", ["", "no-token", "x.y.z"])
def test_refresh_tokens_that_are_none(phone, token):
    answer = phone.gateway.post(
        "/auth/v1/token?grant_type=refresh_token", {"refresh_token": token}, headers={"apikey": ANON_KEY})
    assert answer.status == 400, answer.content
    assert answer.json["error_code"] and answer.json["msg"] and answer.json["code"] == 400


REFUSED = {
    "expired": dict(issued_in=-200_000, expires_in=3600),
    "older than ten minutes": dict(issued_in=-900),
    "of the future": dict(issued_in=3600),
    "another app's": dict(audience="com.example.other"),
    "another issuer's": dict(issuer="https://appleid.apple.com.evil.example"),
    "unsigned": dict(algorithm="none"),
    "signed with the public key as a secret": dict(algorithm="HS256"),
    "signed by a stranger": dict(signing_key="foreign"),
    "with a nonce that nobody proves": dict(claims={"nonce": "of-somebody-else"}),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_identity_tokens_that_are_refused(app, fault):
    with pytest.raises(AuthApiError) as raised:
        app.sign_in(app.credential(**REFUSED[fault]))
    assert (raised.value.status, raised.value.code) == (400, "invalid_credentials") and raised.value.message
    assert app.session is None
    # It left nothing behind, and nobody is kept out by it.
    app.sign_in()


def test_an_audience_that_asks_for_a_nonce(app):
    with pytest.raises(AuthApiError):
        app.sign_in(app.phone.apple(APP))


def test_the_same_identity_token_later(app):
    credential = app.credential()
    first = app.sign_in(credential)
    assert session_id(app.sign_in(credential)) == session_id(first)
    credentials_older_by_two_minutes(app.phone.stack)
    with pytest.raises(AuthApiError):
        app.sign_in(credential)
    assert app.auth.get_user().user.id == first.user.id


def test_providers_that_there_are_not(phone):
    body = {"id_token": phone.apple(BARE).identity_token}
    for provider in ("azure", "", "../apple", None):
        answer = phone.gateway.post("/auth/v1/token?grant_type=id_token", {"provider": provider, **body})
        assert answer.status in (400, 422), answer.content
        assert answer.json["msg"] and answer.json["error_code"]
    for grant in ("password", "pkce", ""):
        assert phone.gateway.post(f"/auth/v1/token?grant_type={grant}", body).status == 400
    assert phone.gateway.post("/auth/v1/token", body).status == 400


def test_no_session(app):
    for token in (None, "x.y.z", ANON_KEY):
        answer = app.phone.gateway.get("/auth/v1/user", token=token, headers={"apikey": ANON_KEY})
        assert answer.status in (401, 403) and answer.json["error_code"] in ("no_authorization", "bad_jwt"), answer.content
    with pytest.raises(AuthError):
        app.auth.update_user({"data": {"full_name": "Nobody Here"}})


def test_user_data_that_is_too_much(app):
    app.sign_in()
    with pytest.raises(AuthApiError) as raised:
        app.auth.update_user({"data": {"diary": "x" * 20_000}})
    assert raised.value.status in (400, 413, 422)
    assert "diary" not in app.auth.get_user().user.user_metadata


def test_a_phone_number_that_is_none(app):
    app.sign_in()
    for digits in ("917", "0000000000", "9171234567890", "not-a-number"):
        with pytest.raises(AuthApiError) as raised:
            app.auth.update_user({"phone": f"+63{digits}"})
        assert raised.value.status in (400, 422) and raised.value.code == "validation_failed"
    assert not app.auth.get_user().user.phone


def test_apple_down_at_the_first_sign_in(parts, without_keys, new_app):
    """No keys: the response is a retryable error, and the same token signs in when there are keys."""
    app = new_app(Phone(parts.stack))
    credential = app.credential()
    bring_back = without_keys("apple")
    with pytest.raises(AuthRetryableError) as raised:
        app.sign_in(credential)
    assert raised.value.status == 503
    bring_back()

    def is_in():
        try:
            return app.sign_in(credential)
        except AuthRetryableError:
            return None

    session = process_table.wait_until(is_in, 60, "a sign-in with keys")
    assert session.user.email == app.phone.person.email
    # The app kept the name itself, as Apple told it with the token that failed.
    assert app.offered_name == app.phone.person.name
