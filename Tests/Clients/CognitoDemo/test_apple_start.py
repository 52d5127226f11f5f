"""Apple by web for apps that can be changed: a state in a cookie, a nonce of ours, and PKCE between the browser and the app."""

import urllib.parse

import pytest

import tokens
from apple_by_web import (
    APP_URL, REDIRECT_URI, expect_safe_page, form_of, link_of, parameters, pkce, post_form, take)
from apple_page import closing_it, signing_in_as
from chromium import BACKEND
from cognito_demo import NativeApp
from phone import SERVICES

NEW_APP_URL = "vestibule-demo://callback"


@pytest.fixture
def app(phone):
    return NativeApp(phone, SERVICES)


def start_path(challenge, app_url=NEW_APP_URL, **more):
    return "/auth/apple/start?" + urllib.parse.urlencode(
        {"code_challenge": challenge, "app_url": app_url, "client_id": SERVICES, **more})


def begin(gateway, challenge, **more):
    """A browser that begins: (its cookie, what the URL of Apple's page says)."""
    answer = gateway.get(start_path(challenge, **more))
    assert answer.status in (302, 303), answer.content
    cookie = answer.headers["Set-Cookie"]
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(answer.headers["Location"]).query)
    return cookie.split(";")[0], {name: values[0] for name, values in query.items()}


def test_in_a_real_browser(tab, app, stack):
    """The form comes from another site, and the cookie with it."""
    verifier, challenge = pkce()
    tab.page.goto(f"http://{BACKEND}{start_path(challenge)}")
    assert tab.page.url.startswith(f"http://{stack.addresses['simulator']}/apple/auth/authorize?")
    (cookie,) = tab.context.cookies(f"http://{BACKEND}")
    assert cookie["name"].startswith("__Host-") and cookie["sameSite"] == "None"
    assert cookie["httpOnly"] and cookie["secure"] and cookie["path"] == "/"
    app.phone.keep_secret(cookie["value"])
    told = parameters(tab.app_opened_by(signing_in_as(app.phone.person), NEW_APP_URL), NEW_APP_URL)
    assert tab.page.url == REDIRECT_URI
    assert tab.context.cookies(f"http://{BACKEND}") == [], "the cookie has done its work"
    request = take(app.phone, told)
    body = app.post("apple", {**request, "code_verifier": verifier}).expect(200)
    assert body["is_new_user"] is True and body["suggested_display_name"] == app.phone.person.name
    # The nonce was ours, so this is as good a proof as a native app's.
    assert stack.sql(
        f"SELECT proof FROM identity.sessions WHERE session_id = '{body['session_id']}';") == "nonce"
    assert tokens.parts(body["id_token"])[1]["email"] == app.phone.person.email


def test_the_person_closes_apples_page(tab, stack):
    tab.page.goto(f"http://{BACKEND}{start_path(pkce()[1])}")
    told = parameters(tab.app_opened_by(closing_it, NEW_APP_URL), NEW_APP_URL)
    assert told == {"error": "user_cancelled_authorize"}


def test_the_way_to_apple(stack):
    _, challenge = pkce()
    cookie, query = begin(stack.client(), challenge)
    assert query["client_id"] == SERVICES and query["response_mode"] == "form_post"
    assert set(query["response_type"].split(" ")) == {"code", "id_token"}
    assert query["redirect_uri"].endswith("/auth/apple/callback")
    assert len(query["state"]) >= 32 and len(query["nonce"]) >= 32
    # Each start is one of its own.
    other_cookie, other = begin(stack.client(), challenge)
    assert other["state"] != query["state"] and other["nonce"] != query["nonce"] and other_cookie != cookie


def finish(stack, app, query, cookie, **overrides):
    """The browser comes back with a token that carries the nonce of the URL."""
    credential = app.phone.apple(SERVICES, query["nonce"], **overrides)
    return post_form(stack.client(), form_of(credential, state=query["state"]), cookie)


@pytest.mark.parametrize("verifier", [None, "", "of-another-app", "A" * 43])
def test_tickets_without_the_verifier(app, stack, verifier):
    """Another app claimed the scheme and has the tickets: they are of no use to it, and the right one can still come."""
    right, challenge = pkce()
    cookie, query = begin(stack.client(), challenge)
    request = take(app.phone, parameters(link_of(expect_safe_page(finish(stack, app, query, cookie))), NEW_APP_URL))
    app.post("apple", {**request, "code_verifier": verifier}).problem(401, "TICKET_INVALID")
    app.post("apple", {**request, "code_verifier": right}).expect(200)


def test_a_state_that_is_not_the_browsers(app, stack):
    """Somebody makes this browser finish what theirs began."""
    _, challenge = pkce()
    mine, query = begin(stack.client(), challenge)
    other, _ = begin(stack.client(), challenge)
    for cookie in (None, other, f"{mine}x", f"{mine}; {other}"):
        answer = finish(stack, app, query, cookie)
        assert answer.status == 400 and link_of(expect_safe_page(answer)) is None
        assert "vit1_" not in answer.content.decode()
    assert finish(stack, app, query, mine).status == 200


def test_a_cookie_without_its_state(app, stack):
    """The state left out is not a way round: this client may come without, but the browser began with one."""
    _, challenge = pkce()
    cookie, query = begin(stack.client(), challenge)
    credential = app.phone.apple(SERVICES, query["nonce"])
    page = expect_safe_page(post_form(stack.client(), form_of(credential), cookie))
    link = link_of(page)
    # The token carries a nonce that nobody proves without the state.
    assert link is None or "error" in parameters(link, link.partition("?")[0]), page


@pytest.mark.parametrize("overrides", [
    dict(claims={"nonce": "another"}), dict(omit=["nonce"]), dict(signing_key="foreign")],
    ids=["another nonce", "no nonce", "signed by a stranger"])
def test_tokens_that_do_not_belong_to_the_state(app, stack, overrides):
    _, challenge = pkce()
    cookie, query = begin(stack.client(), challenge)
    page = expect_safe_page(finish(stack, app, query, cookie, **overrides))
    link = link_of(page)
    assert "vit1_" not in page and (link is None or "error" in parameters(link, NEW_APP_URL))


@pytest.mark.parametrize("app_url", [
    "https://evil.example/", "javascript:alert(1)", "awscognito://apple-callback.evil", "vestibule-demo://callback/../x",
    "vestibule-demo://callback@evil.example", "http://localhost:3000/", ""])
def test_app_urls_that_are_not_allowed(gateway, app_url):
    answer = gateway.get(start_path(pkce()[1], app_url=app_url))
    assert answer.status in (400, 422), (answer.status, answer.headers.get("Location"))
    assert "Set-Cookie" not in answer.headers


def test_the_other_app_url(app, stack):
    verifier, challenge = pkce()
    cookie, query = begin(stack.client(), challenge, app_url=APP_URL)
    request = take(app.phone, parameters(link_of(expect_safe_page(finish(stack, app, query, cookie)))))
    app.post("apple", {**request, "code_verifier": verifier}).expect(200)


@pytest.mark.parametrize("challenge", ["", "short", "x" * 200, "!" * 43])
def test_challenges_that_are_none(gateway, challenge):
    assert gateway.get(start_path(challenge)).status in (400, 422)


def test_clients_that_cannot_begin(gateway):
    """A native app's id is no Services ID, and an unknown one is nobody's."""
    for client_id in ("com.example.app", "com.example.other"):
        answer = gateway.get(start_path(pkce()[1], client_id=client_id))
        assert answer.status in (400, 422) and "Set-Cookie" not in answer.headers
