"""The bill splitter before its user signs in: anonymous sign-ins of Supabase's own client."""

import secrets

import pytest
from supabase_auth.errors import AuthApiError

import guests
import tokens
from bill_splitter import ANON_KEY, SESSION
from shapes import expect_shape


def credentials(gateway, **data):
    """What the app gives the client: the work in the place of a captcha's token."""
    options = {"captcha_token": guests.solved(gateway)}
    return {"options": options | ({"data": data} if data else {})}


def test_an_anonymous_user_has_a_session(app):
    answer = app.auth.sign_in_anonymously(credentials(app.phone.gateway, theme="dark"))
    session = app.keep(answer.session)
    assert session.user.is_anonymous and session.user.identities == [] and session.user.email == ""
    assert session.user.user_metadata == {"theme": "dark"}
    assert tokens.parts(session.access_token)[1]["is_anonymous"] is True
    assert app.auth.get_user().user.is_anonymous
    refreshed = app.keep(app.auth.refresh_session().session)
    assert refreshed.user.id == session.user.id and refreshed.user.is_anonymous
    app.auth.update_user({"data": {"full_name": "Maria Santos"}})
    with pytest.raises(AuthApiError) as refused:
        app.auth.update_user({"phone": f"+63{app.phone.person.digits}"})
    assert (refused.value.status, refused.value.code) == (403, "guest_not_allowed")
    # A group waits for nobody's number.
    created = app.phone.gateway.post("/groups", {"name": "Dinner"}, token=app.session.access_token)
    assert created.status == 201


def test_an_anonymous_user_keeps_nothing_that_a_user_may_not_keep(app):
    for data in ({"wordpress_email": "boss@example.com"}, {"notes": "x" * 2_048}):
        with pytest.raises(AuthApiError) as refused:
            app.auth.sign_in_anonymously(credentials(app.phone.gateway, **data))
        assert (refused.value.status, refused.value.code) == (400, "validation_failed")


def test_without_the_work_nobody_is_let_in(app):
    for options in ({}, {"captcha_token": "a-captcha-of-somebody-else"}):
        with pytest.raises(AuthApiError) as refused:
            app.auth.sign_in_anonymously({"options": options})
        assert (refused.value.status, refused.value.code) == (400, "captcha_failed")
    with pytest.raises(AuthApiError) as refused:
        app.auth.sign_up({"email": "maria@example.com", "password": "a password of hers"})
    assert (refused.value.status, refused.value.code) == (422, "signup_disabled")


def test_an_anonymous_user_links_an_identity_and_stays_the_same(app):
    """`linkIdentity({provider, token, nonce})` of newer clients, as TypeScript sends it."""
    answer = app.auth.sign_in_anonymously(credentials(app.phone.gateway))
    guest = app.keep(answer.session)
    nonce = secrets.token_hex(16)
    token = app.phone.google(nonce=nonce)["id_token"]
    app.phone.keep_secret(nonce)
    linked = app.phone.gateway.post(
        "/auth/v1/token?grant_type=id_token",
        {"provider": "google", "id_token": token, "nonce": nonce, "link_identity": True},
        token=guest.access_token, headers={"apikey": ANON_KEY}).expect(200)
    app.phone.keep_secret(linked["access_token"], linked["refresh_token"])
    expect_shape(linked, SESSION)
    # The response was lost: the client asks again with the token that the link has ended.
    again = app.phone.gateway.post(
        "/auth/v1/token?grant_type=id_token",
        {"provider": "google", "id_token": token, "nonce": nonce, "link_identity": True},
        token=guest.access_token, headers={"apikey": ANON_KEY}).expect(200)
    app.phone.keep_secret(again["access_token"], again["refresh_token"])
    assert tokens.parts(again["access_token"])[1]["sid"] == tokens.parts(linked["access_token"])[1]["sid"]
    assert linked["user"]["id"] == guest.user.id and linked["user"]["is_anonymous"] is False
    assert [identity["provider"] for identity in linked["user"]["identities"]] == ["google"]
    # What rules of row-level security ask for.
    assert tokens.parts(linked["access_token"])[1]["is_anonymous"] is False
    with pytest.raises(AuthApiError):
        app.auth.refresh_session(guest.refresh_token)


def test_settings_say_so(app):
    settings = app.phone.gateway.get("/auth/v1/settings").expect(200)
    assert settings["external"]["anonymous_users"] is True
