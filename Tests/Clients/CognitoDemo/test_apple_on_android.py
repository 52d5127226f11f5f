"""Apple on Android: a Custom Tab, no state and no nonce, a page that leads back to the app, tickets in the places of tokens."""

import http.client
import json

import pytest

import process_table
import tokens
from apple_by_web import (
    APP_URL, REDIRECT_URI, authorize_url, expect_safe_page, form_of, link_of, parameters, post_form, take, tickets)
from apple_page import closing_it, signing_in_as
from cognito_demo import KOTLIN, NativeApp
from cutting_proxy import CuttingProxy
from elapsed import credentials_older_by_two_minutes
from http_client import Client
from phone import BARE, SERVICES, Phone
from shapes import expect_shape

NOTHING_TOLD = {"email": None, "full_name": None}


@pytest.fixture
def app(phone):
    return NativeApp(phone, SERVICES)


@pytest.fixture
def posted(app, stack):
    """Tickets for a form that the app's person brought from Apple."""
    return tickets(app, post_form(stack.client(), form_of(app.phone.apple(SERVICES))))


def test_the_custom_tab(tab, app, stack):
    """Every click of it, in a browser that really posts Apple's form to another site."""
    tab.page.goto(authorize_url(stack))
    told = parameters(tab.app_opened_by(signing_in_as(app.phone.person), APP_URL))
    assert tab.page.url == REDIRECT_URI
    request = take(app.phone, told)
    body = app.post("apple", {**request, **NOTHING_TOLD}).expect(200)
    expect_shape(body, KOTLIN)
    # The name that Apple told the browser stayed in the ticket.
    assert body["is_new_user"] is True and body["suggested_display_name"] == app.phone.person.name
    claims = tokens.parts(body["id_token"])[1]
    assert (claims["email"], claims["aud"]) == (app.phone.person.email, SERVICES)
    # The app's URL is the only one that has the tickets, and none has anything of the person.
    sent = [url for url in tab.urls if not url.startswith(APP_URL)]
    for value in (*told.values(), *app.phone.person.confidential):
        assert not any(value in url for url in sent), "told to others by a URL"
    assert not any(value in url for url in tab.urls for value in app.phone.person.confidential)
    assert not [each for each in tab.complaints if "Content Security Policy" in each or "dialog" in each]


def test_the_person_closes_apples_page(tab, app, stack):
    tab.page.goto(authorize_url(stack))
    assert parameters(tab.app_opened_by(closing_it, APP_URL)) == {"error": "user_cancelled_authorize"}


def test_the_page(app, stack):
    """By script, by refresh where there are no scripts, and by a link where a touch is needed."""
    answer = post_form(stack.client(), form_of(app.phone.apple(SERVICES)))
    page = expect_safe_page(answer)
    link = link_of(page)
    take(app.phone, parameters(link))
    assert "<script>" in page and 'http-equiv="refresh"' in page and link.startswith(f"{APP_URL}?")
    for value in app.phone.person.confidential:
        assert value not in page


def test_tickets_buy_one_session(app, posted, stack):
    """A phone that lost the answer gets the same session within a minute; later the tickets are gone."""
    first = app.post("apple", posted).expect(200)
    again = app.post("apple", posted | NOTHING_TOLD).expect(200)
    assert (first["session_id"], first["refresh_token"]) == (again["session_id"], again["refresh_token"])
    credentials_older_by_two_minutes(stack)
    app.post("apple", posted).problem(401, "TICKET_INVALID")
    app.phone.gateway.get("/me", token=first["access_token"]).expect(200)


def test_a_lost_answer(app, posted, stack, bad_network):
    network = bad_network(app.phone)
    network.lose_next()
    with pytest.raises((OSError, http.client.HTTPException)):
        Client(network.address).post("/auth/apple", posted)
    assert app.post("apple", posted).expect(200)["is_new_user"] is True


def test_a_form_that_a_browser_posts_twice(app, stack):
    """A reload of the page posts the same form: other tickets, and those of before are over."""
    form = form_of(app.phone.apple(SERVICES))
    first, second = (tickets(app, post_form(stack.client(), form)) for _ in range(2))
    app.post("apple", first).problem(401, "TICKET_INVALID")
    app.post("apple", second).expect(200)
    # Once the token has bought its session, there are no tickets for it any more.
    page = expect_safe_page(post_form(stack.client(), form))
    assert "vit1_" not in page and set(parameters(link_of(page))) == {"error"}


def test_tickets_that_are_none(app, posted, new_phone, stack):
    other = NativeApp(new_phone(), SERVICES)
    theirs = tickets(other, post_form(stack.client(), form_of(other.phone.apple(SERVICES))))
    for request in (
            {"identity_token": "vit1_" + "A" * 43, "authorization_code": "vct1_" + "A" * 43},
            {"identity_token": posted["identity_token"]},
            {"identity_token": posted["identity_token"], "authorization_code": theirs["authorization_code"]},
            {"identity_token": posted["authorization_code"], "authorization_code": posted["identity_token"]},
            {"identity_token": posted["identity_token"][:-1], "authorization_code": posted["authorization_code"]}):
        answer = app.post("apple", request)
        assert answer.status == 401, (request, answer.content)
    # At another provider's path they are nothing.
    assert app.post("google", {"id_token": theirs["identity_token"]}).status == 401


def test_tickets_after_two_minutes(app, posted, stack):
    left = stack.sql("SELECT max(extract(epoch FROM expires_at - created_at))::int FROM identity.web_tickets;")
    assert left == "120"
    stack.sql("UPDATE identity.web_tickets SET created_at = created_at - interval '3 minutes', "
              "expires_at = expires_at - interval '3 minutes';")
    app.post("apple", posted).problem(401, "TICKET_INVALID")


def test_tickets_are_not_readable_in_the_database(posted, stack, app):
    """Who reads the table has no ticket and nothing of the person."""
    rows = stack.sql("SELECT encode(ticket_hash, 'hex'), encode(content, 'escape'), w::text FROM identity.web_tickets w;")
    for value in (*posted.values(), *app.phone.person.confidential):
        assert value not in rows


HOSTILE_USERS = {
    "markup": json.dumps({"name": {"firstName": "<script>alert(1)</script>", "lastName": "\"><img src=x onerror=alert(1)>"},
                          "email": "\"><svg onload=alert(1)>@example.com"}),
    "a script's end": json.dumps({"name": {"firstName": "</script><script>alert(1)//", "lastName": "'; alert(1); '"}}),
    "no JSON": "{\"name\":",
    "other types": json.dumps({"name": ["a"], "email": {"a": 1}}),
    "a list": "[]",
    "a number": "7",
    "too deep": "[" * 5_000 + "]" * 5_000,
    "too long": json.dumps({"name": {"firstName": "x" * 20_000, "lastName": "y" * 20_000}}),
    "control characters": json.dumps({"name": {"firstName": "a\u0000b\r\nSet-Cookie: a=b", "lastName": "\u202eevil"}}),
    "half a character": "{\"name\":{\"firstName\":\"\\ud800\",\"lastName\":\"x\"}}",
    "empty": "",
}


@pytest.mark.parametrize("kind", HOSTILE_USERS)
def test_hostile_users(app, stack, kind):
    """The data beside the token comes through the browser: it is no reason to reject, and never appears on a page."""
    answer = post_form(stack.client(), form_of(app.phone.apple(SERVICES), user=HOSTILE_USERS[kind]))
    page = expect_safe_page(answer)
    for bad in ("alert", "onerror", "onload", "Set-Cookie", "<img", "<svg"):
        assert bad not in page
    assert "Set-Cookie: a=b" not in str(answer.headers)
    body = app.post("apple", tickets(app, answer)).expect(200)
    assert body["is_new_user"] is True
    name = body["suggested_display_name"]
    assert name is None or len(name) <= 50 and not any(ord(character) < 32 for character in name)


def test_markup_in_a_name_in_a_real_browser(tab, app, stack):
    """Whatever a page is made of, nothing of it runs."""
    app.phone.person.given_name = "<img src=x onerror=alert(1)>"
    app.phone.person.family_name = "</a><script>alert(2)</script>"
    tab.page.goto(authorize_url(stack))
    take(app.phone, parameters(tab.app_opened_by(signing_in_as(app.phone.person), APP_URL)))
    assert not [each for each in tab.complaints if "dialog" in each]


@pytest.mark.parametrize("error", [
    "user_cancelled_authorize", "access_denied", "\"><script>alert(1)</script>", "x" * 5_000, "javascript:alert(1)",
    "a&id_token=eyJ.a.b&code=c"])
def test_errors_of_apple(stack, error):
    answer = post_form(stack.client(), {"error": error})
    page = expect_safe_page(answer)
    assert "alert" not in page
    told = parameters(link_of(page))
    assert set(told) == {"error"} and len(told["error"]) < 100
    assert told["error"] == (error if error in ("user_cancelled_authorize", "access_denied") else told["error"])


REFUSED = {
    "signed by a stranger": dict(signing_key="foreign"),
    "expired": dict(issued_in=-200_000, expires_in=3600),
    "unsigned": dict(algorithm="none"),
    "another issuer's": dict(issuer="https://appleid.apple.com.evil.example"),
    "another app's": dict(audience="com.example.other"),
    "older than ten minutes": dict(issued_in=-900),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_tokens_that_are_refused(app, stack, fault):
    """No ticket is made of them: the app gets an error, or the browser a page that leads nowhere."""
    credential = app.phone.apple(SERVICES, **REFUSED[fault])
    answer = post_form(stack.client(), form_of(credential))
    link = link_of(expect_safe_page(answer))
    if link and "error" not in parameters(link):
        # What only its age tells against is refused at the latest where it would buy something.
        app.post("apple", take(app.phone, parameters(link))).problem(401, "TOKEN_STALE")
        assert fault == "older than ten minutes"
    assert stack.sql(f"SELECT count(*) FROM identity.provider_identities WHERE subject = '{credential.user}';") == "0"


def test_clients_that_may_not_come_without_state(app, stack):
    """Anybody can post a token of their own: only where the operator says so is that taken."""
    answer = post_form(stack.client(), form_of(app.phone.apple(BARE)))
    page = expect_safe_page(answer)
    assert answer.status >= 400 or "error" in parameters(link_of(page))
    assert "vit1_" not in page


def test_a_state_that_nobody_made(app, stack):
    """A state is the browser's or nobody's; none is not the same as a foreign one."""
    form = form_of(app.phone.apple(SERVICES), state="a-state-of-somebody-else")
    for cookie in (None, "__Host-vestibule-apple=a-state-of-somebody-else", "__Host-vestibule-apple=other"):
        answer = post_form(stack.client(), form, cookie)
        page = expect_safe_page(answer)
        assert answer.status == 400 and link_of(page) is None and "vit1_" not in page
    for error in ("user_cancelled_authorize", "<script>"):
        answer = post_form(stack.client(), {"error": error, "state": "a-state-of-somebody-else"})
        assert answer.status == 400 and link_of(expect_safe_page(answer)) is None


def test_forms_that_are_none(app, stack):
    credential = app.phone.apple(SERVICES)
    for form in (b"", b"%zz=%", b"id_token", b"a" * 100_000, {"id_token": "x.y.z", "code": ""}, {"code": "only-a-code"},
                 f"id_token={credential.identity_token}&id_token={credential.identity_token}&code=c".encode()):
        answer = post_form(stack.client(), form)
        page = expect_safe_page(answer)
        assert "vit1_" not in page
        assert answer.status >= 400 or set(parameters(link_of(page))) == {"error"}
    assert stack.client().get("/auth/apple/callback").status in (404, 405)


def test_a_lost_page(app, stack, new_phone):
    """The browser never saw the page, and posts the form once more: the person gets in by it."""
    form = form_of(app.phone.apple(SERVICES))
    proxy = CuttingProxy(stack.addresses["gateway"], app.phone.gateway.source)
    proxy.lose_next()
    with pytest.raises((OSError, http.client.HTTPException)):
        post_form(Client(proxy.address), form)
    proxy.close()
    body = app.post("apple", tickets(app, post_form(stack.client(), form))).expect(200)
    assert body["suggested_display_name"] == app.phone.person.name


def test_apple_down(parts, without_keys):
    """No keys: a page that says to load it again, which is right once there are keys; the name came with the first form."""
    app = NativeApp(Phone(parts.stack), SERVICES)
    form = form_of(app.phone.apple(SERVICES))
    bring_back = without_keys("apple")
    answer = post_form(parts.stack.client(), form)
    assert answer.status == 503 and link_of(expect_safe_page(answer)) is None
    assert int(answer.headers["Retry-After"]) >= 1
    bring_back()
    answer = process_table.wait_until(
        lambda: (lambda each: each if each.status == 200 else None)(post_form(parts.stack.client(), form)),
        60, "a page with tickets")
    body = app.post("apple", tickets(app, answer)).expect(200)
    assert body["suggested_display_name"] == app.phone.person.name
