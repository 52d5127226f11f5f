"""Passkeys on the pages of a signed-in user: what their scripts send, sent by hand.

`Tests/Clients/Pages/test_passkeys_in_chromium.py` runs the scripts themselves."""

import html
import json
import re
import urllib.parse

import pytest

from soft_authenticator import SoftAuthenticator
from visitor import Visitor


class PasskeyVisitor(Visitor):
    """A visitor whose browser has an authenticator."""

    def __init__(self, stack):
        super().__init__(stack)
        self.authenticator = SoftAuthenticator()

    def add_passkey(self, name="Blue phone"):
        self.visit("/my/account/passkey")
        options = html.unescape(re.search('data-options="([^"]*)"', self.text)[1])
        return self.send("/my/account/passkeys", credential=self.authenticator.create(options), name=name)

    def post(self, path, headers=None, **fields):
        return self.session.post(f"{self.base}{path}", data=fields, headers=headers, allow_redirects=False, timeout=15)

    def challenge(self):
        answer = self.post("/sign-in/passkey/challenge", ui_locales="en")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def entry(self, begun, **faults):
        """What the script of the sign-in page that is open sends."""
        request = html.unescape(re.search('name="request" value="([^"]*)"', self.text)[1])
        credential = self.authenticator.get(json.dumps(begun["options"]), **faults)
        return {"request": request, "ticket": begun["ticket"], "credential": credential}

    def sign_in_by_passkey(self, path="/my/account"):
        self.session.cookies.clear()
        self.visit(path)
        assert "Sign in with a passkey" in self.text
        answer = self.post("/sign-in/passkey", **self.entry(self.challenge()))
        assert answer.status_code == 200, answer.text
        return self.visit(answer.json()["location"])


@pytest.fixture
def passkey_visitor(stack):
    return PasskeyVisitor(stack).sign_in().add_passkey()


def code(answer, status):
    assert answer.status_code == status, answer.text
    assert not answer.headers.get("Set-Cookie") and answer.json()["sentence"]
    return answer.json()["code"]


def test_a_passkey_signs_the_browser_in(passkey_visitor):
    assert passkey_visitor.path == "/my/account?notice=linked" and "Blue phone" in passkey_visitor.text
    passkey_visitor.sign_in_by_passkey("/my/profile")
    assert passkey_visitor.path == "/my/profile"
    assert "Signed in with Passkey" in passkey_visitor.visit("/my/account").text
    # The session counts as proven and recent.
    passkey_visitor.send("/providers/google/link").pass_provider()
    assert passkey_visitor.send("/my/account/link").path == "/my/account?notice=linked"


def test_a_client_gets_its_code(passkey_visitor, stack):
    passkey_visitor.session.cookies.clear()
    query = urllib.parse.urlencode({
        "client_id": "demo", "response_type": "code", "scope": "openid", "state": "s1", "code_challenge_method": "S256",
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "redirect_uri": "http://127.0.0.1:5000/callback"})
    passkey_visitor.visit(f"/oauth2/authorize?{query}")
    answer = passkey_visitor.post("/sign-in/passkey", **passkey_visitor.entry(passkey_visitor.challenge()))
    back = passkey_visitor.open(f"{passkey_visitor.base}{answer.json()['location']}")
    assert back.startswith("http://127.0.0.1:5000/callback?code=") and "state=s1" in back
    stack.confidential.add(urllib.parse.parse_qs(urllib.parse.urlsplit(back).query)["code"][0])


def test_a_credential_is_of_the_browser_that_asked(passkey_visitor, stack):
    """Else a site could sign a browser in to the attacker's account."""
    victim = PasskeyVisitor(stack).visit("/sign-in")
    passkey_visitor.session.cookies.clear()
    form = passkey_visitor.visit("/sign-in").entry(passkey_visitor.challenge())
    assert code(victim.post("/sign-in/passkey", **form), 400) == "WEB_STATE_INVALID"
    own = victim.challenge()
    assert code(victim.post("/sign-in/passkey", **form), 400) == "WEB_STATE_INVALID"
    assert code(victim.post("/sign-in/passkey", **form | {"ticket": own["ticket"]}), 400) == "WEB_STATE_INVALID"
    for site in ("cross-site", "same-site", "none"):
        answer = passkey_visitor.post("/sign-in/passkey", {"Sec-Fetch-Site": site}, **form)
        assert answer.status_code == 403 and not answer.headers.get("Set-Cookie")
    assert passkey_visitor.post("/sign-in/passkey", {"Sec-Fetch-Site": "same-origin"}, **form).status_code == 200


def test_what_is_refused_has_a_sentence(passkey_visitor, stack):
    passkey_visitor.session.cookies.clear()
    passkey_visitor.visit("/sign-in")
    wrong = passkey_visitor.entry(passkey_visitor.challenge(), origin="https://evil.example")
    assert code(passkey_visitor.post("/sign-in/passkey", **wrong), 400) == "PASSKEY_INVALID"
    answer = passkey_visitor.post("/sign-in/passkey", {"Accept-Language": "de"}, **wrong)
    assert answer.json()["sentence"] == "Dieser Passkey kann hier nicht verwendet werden."
    passkey_visitor.sign_in_by_passkey().send("/remove")
    assert passkey_visitor.path.startswith(("/sign-in?", "/my/account?notice=unlinked"))
    passkey_visitor.session.cookies.clear()
    passkey_visitor.visit("/sign-in")
    gone = passkey_visitor.entry(passkey_visitor.challenge())
    assert code(passkey_visitor.post("/sign-in/passkey", **gone), 400) == "PASSKEY_UNKNOWN"


def test_a_passkey_is_named_anew_and_removed(passkey_visitor):
    passkey_visitor.send("/name", name="Red phone")
    assert passkey_visitor.visit("/my/account?notice=saved").text.count("Red phone") >= 1
    action = next(form["action"] for form in passkey_visitor.page.forms if "/passkeys/" in form["action"])
    for name in ("x", "a" * 51):
        assert passkey_visitor.visit("/my/account").send(action, name=name).response.status_code == 422
        assert "This name can’t be used." in passkey_visitor.text
    passkey_visitor.visit("/my/account").send(action.replace("/name", "/remove"))
    assert passkey_visitor.path == "/my/account?notice=unlinked" and "Red phone" not in passkey_visitor.text
    data = json.loads(passkey_visitor.visit("/my/account/data").text)
    assert data["passkeys"] == []


def test_an_old_sign_in_adds_none(passkey_visitor, stack):
    user = json.loads(passkey_visitor.visit("/my/account/data").text)["profile"]["user_id"]
    stack.sql(f"UPDATE identity.sessions SET created_at = created_at - interval '1 hour' WHERE user_id = '{user}'")
    passkey_visitor.visit("/my/account/passkey", status=403)
    assert "to=%2Fmy%2Faccount%2Fpasskey&prompt=login" in html.unescape(passkey_visitor.text)
    passkey_visitor.follow("/sign-in")
    passkey_visitor.pass_sign_in()
    assert passkey_visitor.path == "/my/account/passkey" and passkey_visitor.response.status_code == 200


def test_what_no_script_sends(passkey_visitor):
    value = passkey_visitor.visit("/my/account").page.forms[0]["fields"]["form_value"]
    for credential in ("", "{}", "x" * 20_000, "[]", '{"response":{"clientDataJSON":"e30"}}'):
        answer = passkey_visitor.post("/my/account/passkeys", form_value=value, credential=credential, name="x")
        assert 400 <= answer.status_code < 500 and answer.text.startswith("<!doctype html>"), (credential[:20], answer.status_code)
        answer = passkey_visitor.post("/sign-in/passkey", request="page_x", ticket="t", credential=credential)
        assert code(answer, 400) == "WEB_STATE_INVALID"
    for name in ("x", "%0d%0aSet-Cookie:a=b", "0" * 500, "00000000-0000-0000-0000-000000000000"):
        for act in ("name", "remove"):
            answer = passkey_visitor.post(f"/my/account/passkeys/{name}/{act}", form_value=value, name="Blue phone")
            assert 400 <= answer.status_code < 500, (name, act, answer.status_code)
