"""Apple in a browser: its page, the form that it posts, and what comes back to the app."""

import base64
import hashlib
import html
import json
import re
import secrets
import urllib.parse

from chromium import BACKEND
from phone import SERVICES

CALLBACK = "/auth/apple/callback"
REDIRECT_URI = f"http://{BACKEND}{CALLBACK}"
APP_URL = "awscognito://apple-callback"


def authorize_url(stack):
    """What the demo's Android app opens in a Custom Tab: no state, no nonce."""
    query = urllib.parse.urlencode({
        "client_id": SERVICES, "redirect_uri": REDIRECT_URI, "response_type": "code id_token", "scope": "name email",
        "response_mode": "form_post"}, quote_via=urllib.parse.quote)
    return f"http://{stack.addresses['simulator']}/apple/auth/authorize?{query}"


def link_of(page_html):
    """The app URL that a page leads to, by its link; none if it leads nowhere."""
    found = re.findall(r'href="([^"]*)"', page_html)
    assert len(found) <= 1, page_html
    return html.unescape(found[0]) if found else None


def parameters(url, app_url=APP_URL):
    """What the app reads out of the URL that it is opened with."""
    base, _, query = url.partition("?")
    assert base == app_url, url
    values = urllib.parse.parse_qs(query, strict_parsing=True, keep_blank_values=True)
    assert all(len(each) == 1 for each in values.values()), url
    return {name: each[0] for name, each in values.items()}


def form_of(credential, **more):
    """What Apple posts: `user` as JSON the first time."""
    form = {"code": credential.authorization_code, "id_token": credential.identity_token, **more}
    if credential.full_name and "user" not in more:
        first, last = credential.full_name.split(" ")
        form["user"] = json.dumps({"name": {"firstName": first, "lastName": last}, "email": credential.email})
    return {name: value for name, value in form.items() if value is not None}


def post_form(gateway, form, cookie=None):
    """The browser's request with Apple's form."""
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": "https://appleid.apple.com"}
    if cookie:
        headers["Cookie"] = cookie
    body = form if isinstance(form, bytes) else urllib.parse.urlencode(form).encode()
    return gateway.send("POST", CALLBACK, body=body, headers=headers)


def expect_safe_page(answer):
    """A page that loads, runs, frames and keeps nothing but what it must; returns its text."""
    headers, page = answer.headers, answer.content.decode()
    assert headers["Content-Type"] == "text/html; charset=utf-8", answer.content
    policy = dict(part.strip().partition(" ")[::2] for part in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'" and policy["frame-ancestors"] == "'none'"
    assert re.fullmatch(r"('sha256-[\w+/]+=*'|'nonce-[\w+/=-]+'|'none')", policy.get("script-src", "'none'"))
    assert headers["Cache-Control"] == "no-store" and headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in headers
    assert not re.search(r"eyJ[\w-]+\.eyJ", page), "a token in a page"
    return page


def tickets(app, answer):
    """The app's tickets from a page that leads to it."""
    assert answer.status == 200, answer.content
    return take(app.phone, parameters(link_of(expect_safe_page(answer))))


def take(phone, told):
    """The tickets that the app gets in place of the token and the code; it gets no other data of the user."""
    assert set(told) == {"id_token", "code"}
    assert re.fullmatch(r"vit1_[\w-]{43}", told["id_token"]) and re.fullmatch(r"vct1_[\w-]{43}", told["code"])
    phone.keep_secret(*told.values())
    return {"identity_token": told["id_token"], "authorization_code": told["code"]}


def pkce():
    """(verifier, challenge) of RFC 7636 section 4."""
    verifier = secrets.token_urlsafe(32)
    digest = hashlib.sha256(verifier.encode()).digest()
    return verifier, base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
