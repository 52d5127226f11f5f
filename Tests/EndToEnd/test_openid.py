"""Vestibule as an OpenID provider, asked by libraries that know nothing of it: authlib and requests-oauthlib."""

import secrets
import urllib.parse

import authlib.integrations.requests_client
import authlib.oidc.core
import joserfc.jwk
import joserfc.jwt
import pytest
import requests
import requests_oauthlib

from browser import Browser

REDIRECT = "http://127.0.0.1:51123/callback"
SCOPE = "openid profile email phone offline_access"


@pytest.fixture(scope="module")
def issuer(stack):
    return f"http://{stack.addresses['gateway']}"


@pytest.fixture(scope="module")
def metadata(issuer):
    """What a client knows of us: one document."""
    found = requests.get(f"{issuer}/.well-known/openid-configuration", timeout=15)
    assert found.status_code == 200 and found.headers["Content-Type"].startswith("application/json")
    assert found.json()["issuer"] == issuer
    return found.json()


@pytest.fixture
def browser(stack):
    return Browser(stack.addresses["gateway"], stack.addresses["simulator"])


@pytest.fixture
def client(metadata):
    return authlib.integrations.requests_client.OAuth2Session(
        "demo", scope=SCOPE, redirect_uri=REDIRECT, code_challenge_method="S256", token_endpoint_auth_method="none")


def sign_in(browser, url, email):
    """Opens an authorization URL, signs in with the simulated Apple, and returns where the browser is sent."""
    assert browser.open(url) is None, browser.response.headers
    assert browser.response.status_code == 200 and browser.page.headings
    assert browser.follow("/sign-in/apple") is None
    assert "Sign in with Apple" in "".join(browser.page.headings), browser.response.text
    # Apple's page, and then its form, which a script would post.
    assert browser.submit(action="continue", email=email, given_name="Maria", family_name="Santos") is None
    return browser.submit()


def begin(client, metadata, **more):
    verifier, nonce = secrets.token_urlsafe(48), secrets.token_urlsafe(16)
    url, state = client.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=verifier, nonce=nonce, **more)
    return url, state, verifier, nonce


def email_of(stack):
    email = f"{secrets.token_hex(8)}@example.com"
    stack.confidential.add(email)
    return email


def keep(stack, token):
    stack.confidential |= {token[name] for name in ("access_token", "refresh_token", "id_token") if name in token}
    return token


def test_authlib_signs_in_verifies_refreshes_and_revokes(stack, metadata, client, browser):
    email = email_of(stack)
    url, state, verifier, nonce = begin(client, metadata)
    back = sign_in(browser, url, email)
    assert back.startswith(f"{REDIRECT}?"), back
    answer = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(back).query))
    assert answer["state"] == state and answer["iss"] == metadata["issuer"]
    token = keep(stack, client.fetch_token(
        metadata["token_endpoint"], authorization_response=back, state=state, code_verifier=verifier))
    assert token["token_type"] == "Bearer" and set(token["scope"].split()) == set(SCOPE.split())
    keys = joserfc.jwk.KeySet.import_key_set(requests.get(metadata["jwks_uri"], timeout=15).json())
    claims = joserfc.jwt.decode(token["id_token"], keys, algorithms=metadata["id_token_signing_alg_values_supported"]).claims
    assert claims["iss"] == metadata["issuer"] and claims["aud"] == "demo" and claims["nonce"] == nonce
    authlib.oidc.core.CodeIDToken(claims, {}, {"iss": {"value": metadata["issuer"]}}, {"nonce": nonce}).validate()
    told = client.get(metadata["userinfo_endpoint"], timeout=15).json()
    assert told["sub"] == claims["sub"] and told["email"] == email
    refreshed = keep(stack, client.refresh_token(metadata["token_endpoint"], refresh_token=token["refresh_token"]))
    assert refreshed["refresh_token"] != token["refresh_token"]
    assert client.revoke_token(metadata["revocation_endpoint"], token=refreshed["refresh_token"]).status_code == 200
    assert requests.get(
        metadata["userinfo_endpoint"], headers={"Authorization": f"Bearer {refreshed['access_token']}"}, timeout=15
    ).status_code == 401


def test_a_browser_that_has_signed_in_is_sent_back_at_once(stack, metadata, client, browser):
    sign_in(browser, begin(client, metadata)[0], email_of(stack))
    for more in ({}, {"prompt": "none"}, {"max_age": "600"}):
        back = browser.open(begin(client, metadata, **more)[0])
        assert back.startswith(f"{REDIRECT}?") and "code=" in back, (more, back)
    assert browser.open(begin(client, metadata, prompt="login")[0]) is None
    assert browser.page.headings


def test_without_a_sign_in_prompt_none_is_an_error(metadata, client, browser):
    back = browser.open(begin(client, metadata, prompt="none")[0])
    assert back.startswith(f"{REDIRECT}?") and "error=login_required" in back


def test_the_second_use_of_a_code_ends_the_first_ones_session(stack, metadata, client, browser):
    url, state, verifier, _ = begin(client, metadata)
    back = sign_in(browser, url, email_of(stack))
    token = keep(stack, client.fetch_token(
        metadata["token_endpoint"], authorization_response=back, state=state, code_verifier=verifier))
    with pytest.raises(authlib.integrations.requests_client.OAuthError, match="invalid_grant"):
        client.fetch_token(metadata["token_endpoint"], authorization_response=back, state=state, code_verifier=verifier)
    assert requests.get(
        metadata["userinfo_endpoint"], headers={"Authorization": f"Bearer {token['access_token']}"}, timeout=15
    ).status_code == 401


def test_requests_oauthlib_signs_in(stack, metadata, browser, monkeypatch):
    # It wants HTTPS, which this loopback stack doesn't have.
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    session = requests_oauthlib.OAuth2Session("demo", redirect_uri=REDIRECT, scope=SCOPE.split(), pkce="S256")
    url, _ = session.authorization_url(metadata["authorization_endpoint"])
    back = sign_in(browser, url, email_of(stack))
    token = keep(stack, session.fetch_token(
        metadata["token_endpoint"], authorization_response=back, include_client_id=True))
    assert session.get(metadata["userinfo_endpoint"], timeout=15).json()["sub"]
    assert keep(stack, session.refresh_token(
        metadata["token_endpoint"], refresh_token=token["refresh_token"], client_id="demo"))["access_token"]


def test_pushed_requests(stack, metadata, client, browser):
    _, _, verifier, _ = begin(client, metadata)
    challenge = authlib.oauth2.rfc7636.create_s256_code_challenge(verifier)
    pushed = requests.post(metadata["pushed_authorization_request_endpoint"], timeout=15, data={
        "client_id": "demo", "response_type": "code", "redirect_uri": REDIRECT, "scope": "openid", "state": "s-1",
        "code_challenge": challenge, "code_challenge_method": "S256"})
    assert pushed.status_code == 201 and pushed.json()["expires_in"] > 0
    query = urllib.parse.urlencode({"client_id": "demo", "request_uri": pushed.json()["request_uri"]})
    back = sign_in(browser, f"{metadata['authorization_endpoint']}?{query}", email_of(stack))
    assert "state=s-1" in back and "code=" in back


def test_form_post(stack, metadata, client, browser):
    url, state, verifier, _ = begin(client, metadata, response_mode="form_post")
    assert sign_in(browser, url, email_of(stack)) is None
    form = browser.page.forms[0]
    assert form["action"] == REDIRECT and form["method"] == "post" and form["fields"]["state"] == state
    assert keep(stack, client.fetch_token(
        metadata["token_endpoint"], code=form["fields"]["code"], code_verifier=verifier))["access_token"]


def test_errors_before_the_client_is_known_stay_on_a_page(metadata, client, browser):
    url, *_ = begin(client, metadata)
    for old, new in (("client_id=demo", "client_id=other"), ("127.0.0.1%3A51123%2Fcallback", "evil.example%2F")):
        assert old in url
        assert browser.open(url.replace(old, new)) is None
        assert browser.response.status_code == 400 and "Location" not in browser.response.headers


def test_signing_out(stack, metadata, client, browser):
    url, state, verifier, _ = begin(client, metadata)
    back = sign_in(browser, url, email_of(stack))
    token = keep(stack, client.fetch_token(
        metadata["token_endpoint"], authorization_response=back, state=state, code_verifier=verifier))
    query = urllib.parse.urlencode({
        "id_token_hint": token["id_token"], "post_logout_redirect_uri": "http://127.0.0.1:51123/", "state": "bye"})
    assert browser.open(f"{metadata['end_session_endpoint']}?{query}") == "http://127.0.0.1:51123/?state=bye"
    assert "error=login_required" in browser.open(begin(client, metadata, prompt="none")[0])


def test_a_cookie_opens_pages_alone(stack, issuer, metadata, client, browser):
    sign_in(browser, begin(client, metadata)[0], email_of(stack))
    assert browser.session.cookies
    for path in ("/me", "/groups", "/oauth2/userinfo"):
        assert browser.session.get(f"{issuer}{path}", timeout=15).status_code == 401, path
