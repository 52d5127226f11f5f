"""The demo's web app in a real Chromium: `fetch` from another origin with its preflight, and localStorage."""

import pytest
from playwright.sync_api import Error

import tokens
from chromium import FOREIGN_ORIGIN, WEB_APP_ORIGIN
from cognito_demo import TYPESCRIPT
from phone import GOOGLE_WEB, SERVICES
from shapes import expect_shape

STORED = ("id_token", "access_token", "refresh_token", "expires_in")


def apple_data(credential):
    """What Apple's JavaScript resolves `AppleID.auth.signIn()` with."""
    data = {"authorization": {"id_token": credential.identity_token, "code": credential.authorization_code}}
    if credential.full_name:
        first, last = credential.full_name.split(" ")
        data["user"] = {"name": {"firstName": first, "lastName": last}, "email": credential.email}
    return data


def sign_in(tab, phone, provider="google", origin=WEB_APP_ORIGIN):
    """Opens the web app and signs in; what it keeps."""
    tab.page.goto(f"{origin}/")
    if provider == "google":
        tab.page.evaluate("credential => signInWithGoogle(credential)", phone.google(GOOGLE_WEB)["id_token"])
    else:
        tab.page.evaluate("data => signInWithApple(data)", apple_data(phone.apple(SERVICES)))
    stored = {name: tab.page.evaluate("name => localStorage.getItem(name)", name) for name in STORED}
    phone.keep_secret(stored["id_token"], stored["access_token"], stored["refresh_token"])
    return stored


@pytest.mark.parametrize("provider", ["google", "apple"])
def test_sign_in(tab, phone, provider):
    stored = sign_in(tab, phone, provider)
    expect_shape({**stored, "expires_in": int(stored["expires_in"])}, TYPESCRIPT)
    claims = tokens.parts(stored["id_token"])[1]
    shown = f"{phone.person.email} ({claims['sub']})"
    assert tab.page.text_content("#who") == shown
    # All of it is there after a reload.
    tab.page.reload()
    assert tab.page.text_content("#who") == shown
    assert tab.complaints == []


def test_calls_with_a_token(tab, phone):
    """Each header that isn't a form's costs a preflight, which must be granted."""
    stored = sign_in(tab, phone)
    answer = tab.page.evaluate("loadProfile()")
    assert answer["status"] == 200 and answer["body"]["user_id"] == tokens.parts(stored["access_token"])[1]["sub"]
    tab.page.evaluate("refresh()")
    renewed = tab.page.evaluate("localStorage.getItem('refresh_token')")
    phone.keep_secret(renewed, *(tab.page.evaluate(f"localStorage.getItem('{name}')") for name in STORED[:2]))
    assert renewed != stored["refresh_token"]
    assert tab.complaints == []


def test_the_page_reads_why_it_was_refused(tab, phone):
    """An error without CORS headers is a network error to a page, and nobody knows what was wrong."""
    tab.page.goto(f"{WEB_APP_ORIGIN}/")
    with pytest.raises(Error) as raised:
        tab.page.evaluate(
            "credential => signInWithGoogle(credential)", phone.google(overrides={"issued_in": -900})["id_token"])
    assert "Failed to fetch" not in str(raised.value) and "again" in str(raised.value)
    assert tab.page.evaluate("localStorage.length") == 0


def test_an_origin_that_is_not_allowed(tab, phone, stack):
    """The browser asks first, is granted nothing and sends nothing."""
    count = "SELECT count(*) FROM identity.sessions;"
    before = stack.sql(count)
    with pytest.raises(Error, match="Failed to fetch"):
        sign_in(tab, phone, origin=FOREIGN_ORIGIN)
    assert stack.sql(count) == before
    assert tab.page.evaluate("localStorage.length") == 0
    assert any("CORS" in complaint for complaint in tab.complaints)


PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1:3000"])
def test_preflight_of_an_allowed_origin(gateway, origin):
    answer = gateway.send("OPTIONS", "/auth/google", headers={"Origin": origin, **PREFLIGHT})
    assert answer.status in (200, 204) and answer.content == b""
    headers = answer.headers
    assert headers["Access-Control-Allow-Origin"] == origin
    assert "POST" in headers["Access-Control-Allow-Methods"]
    assert "content-type" in headers["Access-Control-Allow-Headers"].lower()
    assert "origin" in headers["Vary"].lower()
    # Every right is in a token that the page sends itself: cookies have no part in it.
    assert "Access-Control-Allow-Credentials" not in headers


@pytest.mark.parametrize("origin", [
    "http://localhost:3001", "https://localhost:3000", "http://localhost:3000.evil.example", "http://evil.example",
    "http://LOCALHOST:3000", "null", ""])
def test_preflight_of_another_origin(gateway, origin):
    for headers in (PREFLIGHT, {}):
        answer = gateway.send("OPTIONS", "/auth/google", headers={"Origin": origin, **headers})
        assert "Access-Control-Allow-Origin" not in answer.headers
    answer = gateway.post("/auth/google", {"id_token": "x.y.z"}, headers={"Origin": origin})
    assert answer.status == 401 and "Access-Control-Allow-Origin" not in answer.headers


def test_pages_of_others_cannot_begin_apple_by_web(gateway):
    """What sets a cookie is for a browser to visit, not for a page to fetch: not even an allowed origin reads it."""
    for path in ("/auth/apple/start", "/auth/apple/callback"):
        assert gateway.send("OPTIONS", path, headers={"Origin": WEB_APP_ORIGIN, **PREFLIGHT}).status >= 400
    answer = gateway.get(f"/auth/apple/start?code_challenge={'A' * 43}", headers={"Origin": WEB_APP_ORIGIN})
    assert answer.status == 303 and "Access-Control-Allow-Origin" not in answer.headers
