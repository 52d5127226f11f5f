"""The drivers' app: its one token from sign-in to the end of the session."""

import time

import jwt
import pytest

import tokens
from drivers_app import DECODER, DriversApp
from elapsed import session_unused_for, single_token_that_ends

DAY = 86_400


@pytest.fixture
def decoder(compiled):
    return compiled(DECODER)


@pytest.fixture
def app(phone, decoder):
    """An app whose driver has signed in."""
    app = DriversApp(phone, decoder)
    app.sign_in()
    return app


def test_sign_in(phone, decoder):
    app = DriversApp(phone, decoder)
    answer = app.sign_in()
    assert answer["success"] is True
    assert answer["id"] == app.claims["sub"]
    assert (answer["email"], answer["name"]) == (phone.person.email, phone.person.name)
    lifetime = decoder.decode("expiry", app.token.encode())["expires_at"] - time.time()
    assert 29.9 * DAY < lifetime <= 30 * DAY and app.needs_refresh is False
    # The second time Apple tells no name, and the members are null.
    again = app.sign_in()
    assert again["id"] == answer["id"]
    assert (again["email"], again["name"]) == (phone.person.email, phone.person.name)


def test_the_decoders_can_refuse(decoder):
    """What they accept elsewhere is accepted because it is right."""
    for body in (b"{}", b'{"success":true,"token":"t"}', b'{"success":1,"token":"t","user":{"id":"u"}}'):
        assert decoder.refuses("sign-in", body)
    assert decoder.refuses("refresh", b'{"success":true,"token":null}')
    assert decoder.refuses("expiry", b"no.token")


def test_restored_session(app, decoder):
    """The app refreshes as it starts, however long the token would last."""
    before = app.token
    restored = DriversApp(app.phone, decoder)
    restored.token = before
    assert restored.refresh() is True
    assert restored.session_id == app.session_id
    assert restored.get("/me").expect(200)["user_id"] == app.claims["sub"]
    # It does not rotate: an answer that was lost costs nothing.
    assert app.get("/me").expect(200)["user_id"] == app.claims["sub"]
    assert app.refresh() is True


def test_a_token_that_ends_within_a_day_is_refreshed_first(app, stack):
    app.token = single_token_that_ends(stack, app.token, 3600)
    assert app.needs_refresh is True
    session_id = app.session_id
    app.get("/me").expect(200)
    assert app.needs_refresh is False and app.session_id == session_id


def test_an_expired_token_is_good_for_its_refresh(app, stack):
    expired = single_token_that_ends(stack, app.token, -3600)
    app.phone.gateway.get("/me", token=expired).problem(401, "ACCESS_TOKEN_EXPIRED")
    app.token = expired
    app.get("/me").expect(200)
    assert app.token != expired and app.needs_refresh is False


def test_a_401_is_answered_by_a_refresh_and_one_more_try(app, stack, monkeypatch):
    """Also where the app's clock is so wrong that it takes the token for a good one."""
    app.token = expired = single_token_that_ends(stack, app.token, -60)
    monkeypatch.setattr(DriversApp, "needs_refresh", False)
    app.get("/me").expect(200)
    assert app.token != expired


def test_refresh_after_the_inactivity_limit(app, stack):
    """Thirty days without a sign of life: a failed refresh keeps the old token, and the app goes on with it."""
    expired = app.token = single_token_that_ends(stack, app.token, -3600)
    session_unused_for(stack, app.session_id, days=31)
    assert app.refresh() is False and app.token == expired
    assert app.get("/me").status == 401
    # The way back is a sign-in.
    app.sign_in()
    app.get("/me").expect(200)


def test_use_keeps_a_session_alive(app, stack):
    """Inactivity counts from the last use, of which each call is one."""
    session_unused_for(stack, app.session_id, days=29)
    app.get("/me").expect(200)
    session_unused_for(stack, app.session_id, days=29)
    app.get("/me").expect(200)


def test_signed_out(app, stack):
    """The token is checked against its session at each call, and there is no refresh without one."""
    app.phone.gateway.post("/auth/sign-out", token=app.token).expect(204)
    assert app.get("/me").status == 401
    before = app.token
    assert app.refresh() is False and app.token == before
    app.token = single_token_that_ends(stack, app.token, -3600)
    assert app.refresh() is False


def test_our_own_routes_take_the_token(app):
    """It is the bearer token of the whole API."""
    gateway, name = app.phone.gateway, app.phone.person.name
    assert gateway.patch("/me", {"display_name": name}, token=app.token).expect(200)["display_name"] == name
    group = gateway.post("/groups", {"name": "Drivers"}, token=app.token).expect(201)["id"]
    assert [each["id"] for each in gateway.get("/groups", token=app.token).expect(200)["groups"]] == [group]


def test_nobody_takes_it_for_an_access_token(app, stack):
    """Who verifies our access tokens with our published keys alone refuses it, whatever they ask of the claims."""
    header, claims = tokens.parts(app.token)
    assert (header["alg"], header["typ"], claims["aud"]) == ("HS256", "vst+jwt", "vestibule-single-token")
    address = stack.addresses["gateway"]
    with pytest.raises(jwt.PyJWTError):
        jwt.PyJWKClient(f"http://{address}/.well-known/jwks.json").get_signing_key_from_jwt(app.token)
    for key in jwt.PyJWKSet.from_dict(stack.gateway.get("/.well-known/jwks.json").expect(200)).keys:
        with pytest.raises(jwt.InvalidTokenError):
            jwt.decode(app.token, key, algorithms=["ES256"], audience="vestibule", issuer=f"http://{address}")
        with pytest.raises(jwt.PyJWTError):
            jwt.decode(app.token, key, algorithms=["ES256", "HS256"], options={"verify_aud": False})


def test_a_token_that_was_tampered_with(app):
    head, body, signature = app.token.split(".")
    claims = tokens.encode(tokens.decode(body).replace(b'"exp":', b'"exp":9'))
    unsigned = tokens.encode(b'{"alg":"none","typ":"vst+jwt"}')
    for token in (f"{head}.{claims}.{signature}", f"{unsigned}.{body}.", f"{head}.{body}.", f"{head}.{body}.{head}"):
        app.phone.gateway.get("/me", token=token).problem(401, "ACCESS_TOKEN_INVALID")
        assert app.phone.gateway.post("/api/auth/refresh", token=token).status == 401


def test_a_refresh_needs_a_token_of_this_kind(app, stack):
    """Neither an access token nor a provider's is one."""
    ours = app.phone.gateway
    session = stack.gateway.post("/auth/apple", {
        name: value for name, value in app.body(*app.phone.apple_with_nonce()).items()
        if name in ("identity_token", "nonce")}).expect(200)
    app.phone.keep_secret(session["access_token"], session["refresh_token"], session["id_token"])
    for token in (session["access_token"], session["refresh_token"], session["id_token"], "x.y.z"):
        assert ours.post("/api/auth/refresh", token=token).status == 401
    assert ours.post("/api/auth/refresh").status == 401
