"""Clients of each kind, as entries of the clients file, which a running identity reads again."""

import http.server
import json
import secrets
import threading
import time
import urllib.parse

import authlib.integrations.requests_client
import authlib.oauth2.rfc7523
import joserfc.jwk
import joserfc.jwt
import pytest
import requests

import process_table
from test_openid import REDIRECT, SCOPE, begin, browser, email_of, issuer, keep, metadata, sign_in  # noqa: F401

API = "https://orders.example.com/"
# Identity reads the file every five seconds.
SECONDS = 20


class Receiver(http.server.ThreadingHTTPServer):
    """Where a client is notified of ended sessions."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.tokens, self.status = [], 200
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.server.tokens.append(form["logout_token"][0])
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def write(stack, change):
    """Changes the clients file by a rename, so that nobody reads half of it."""
    path = stack.folder / "clients.json"
    content = json.loads(path.read_text())
    change(content["clients"])
    new = path.with_suffix(".new")
    new.write_text(json.dumps(content))
    new.rename(path)


def is_known(metadata, client_id):
    answer = requests.get(metadata["authorization_endpoint"], params={"client_id": client_id, "redirect_uri": REDIRECT},
                          allow_redirects=False, timeout=15)
    return answer.status_code == 303


@pytest.fixture(scope="module")
def receiver():
    server = Receiver()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def key():
    return joserfc.jwk.ECKey.generate_key("P-256", {"kid": "k1", "use": "sig", "alg": "ES256"})


@pytest.fixture(scope="module")
def clients(stack, metadata, key, receiver):  # noqa: F811
    """Entries of each kind, added while identity runs."""
    common = {"redirect_uris": ["http://127.0.0.1/callback"]}
    entries = [
        {"id": "keyed", "name": "Keyed", "jwks": {"keys": [key.as_dict(private=False)]}, **common},
        {"id": "rsa", "name": "Older", "id_token_signed_response_alg": "RS256", **common},
        {"id": "orders", "name": "Orders", "resources": [API], **common},
        {"id": "told", "name": "Told", "backchannel_logout_uri": f"http://127.0.0.1:{receiver.server_port}/logout",
         "backchannel_logout_private_addresses": True, **common},
        {"id": "profiled", "name": "Profiled", "required_fields": ["display_name", "phone_number"], **common},
        {"id": "switched", "name": "Switched", **common},
    ]
    write(stack, lambda clients: clients.extend(entries))
    process_table.wait_until(lambda: is_known(metadata, "switched"), SECONDS, lambda: "the new clients")
    yield
    write(stack, lambda clients: clients.__delitem__(slice(1, None)))


def session(client_id, method="none", **more):
    return authlib.integrations.requests_client.OAuth2Session(
        client_id, scope=SCOPE, redirect_uri=REDIRECT, code_challenge_method="S256", token_endpoint_auth_method=method, **more)


def tokens(stack, metadata, browser, client, **more):  # noqa: F811
    """Signs in by a page, or goes on with the session that the browser has."""
    url, state, verifier, _ = begin(client, metadata, **more)
    back = browser.open(url)
    if back is None:
        back = sign_in(browser, url, email_of(stack))
    return keep(stack, client.fetch_token(
        metadata["token_endpoint"], authorization_response=back, state=state, code_verifier=verifier))


def decoded(token, metadata, algorithm):  # noqa: F811
    keys = joserfc.jwk.KeySet.import_key_set(requests.get(metadata["jwks_uri"], timeout=15).json())
    return joserfc.jwt.decode(token, keys, algorithms=[algorithm])


def test_a_client_authenticates_itself_by_its_key(stack, clients, metadata, browser, key):  # noqa: F811
    client = session("keyed", "private_key_jwt", client_secret=key.as_pem(private=True).decode())

    class Assertion(authlib.oauth2.rfc7523.PrivateKeyJWT):
        def sign(self, auth, token_endpoint):
            return authlib.oauth2.rfc7523.private_key_jwt_sign(
                auth.client_secret, client_id=auth.client_id, token_endpoint=metadata["issuer"], alg="ES256",
                claims={"jti": secrets.token_hex(8)}, header={"kid": "k1"}, expires_in=120)

    client.register_client_auth_method(Assertion(metadata["token_endpoint"], alg="ES256"))
    assert tokens(stack, metadata, browser, client)["refresh_token"]
    stranger = joserfc.jwk.ECKey.generate_key("P-256", {"kid": "k1"})
    for signer, audience in ((stranger, metadata["issuer"]), (key, metadata["token_endpoint"])):
        now = int(time.time())
        claims = {"iss": "keyed", "sub": "keyed", "aud": audience, "jti": secrets.token_hex(8), "exp": now + 60}
        answer = requests.post(metadata["token_endpoint"], timeout=15, data={
            "grant_type": "authorization_code", "code": "none",
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            "client_assertion": joserfc.jwt.encode({"alg": "ES256", "kid": "k1"}, claims, signer)})
        assert answer.status_code == 401 and answer.json()["error"] == "invalid_client"


def test_id_tokens_by_rs256(stack, clients, metadata, browser):  # noqa: F811
    assert {"ES256", "RS256"} <= set(metadata["id_token_signing_alg_values_supported"])
    token = tokens(stack, metadata, browser, session("rsa"))
    claims = decoded(token["id_token"], metadata, "RS256").claims
    assert claims["aud"] == "rsa" and claims["acr"] in metadata["acr_values_supported"]


def test_a_token_for_another_api(stack, clients, metadata, browser, issuer):  # noqa: F811
    token = tokens(stack, metadata, browser, session("orders"), resource=API)
    access = decoded(token["access_token"], metadata, "ES256")
    assert access.claims["aud"] == API and access.header["typ"] == "at+jwt" and access.claims["client_id"] == "orders"
    for path in ("/me", "/oauth2/userinfo"):
        assert requests.get(f"{issuer}{path}", headers={"Authorization": f"Bearer {token['access_token']}"},
                            timeout=15).status_code == 401
    back = browser.open(begin(session("orders"), metadata, resource="https://evil.example.com/")[0])
    assert "error=invalid_target" in back


def test_a_client_is_told_of_ended_sessions(stack, clients, metadata, browser, receiver):  # noqa: F811
    assert metadata["backchannel_logout_supported"] and metadata["backchannel_logout_session_supported"]
    token = tokens(stack, metadata, browser, session("told"))
    id_claims = decoded(token["id_token"], metadata, "ES256").claims
    query = urllib.parse.urlencode({"id_token_hint": token["id_token"]})
    receiver.status = 503
    assert browser.open(f"{metadata['end_session_endpoint']}?{query}") is None
    process_table.wait_until(lambda: receiver.tokens, SECONDS, lambda: "a logout token")
    receiver.status = 200
    process_table.wait_until(lambda: len(receiver.tokens) >= 2, SECONDS, lambda: "it again, as it was not taken")
    stack.confidential |= set(receiver.tokens)
    told = decoded(receiver.tokens[-1], metadata, "ES256")
    assert told.header["typ"] == "logout+jwt"
    claims = told.claims
    assert (claims["iss"], claims["aud"], claims["sub"], claims["sid"]) == (
        metadata["issuer"], "told", id_claims["sub"], id_claims["sid"])
    assert claims["events"] == {"http://schemas.openid.net/event/backchannel-logout": {}}
    assert "nonce" not in claims and claims["jti"] and 0 < claims["exp"] - claims["iat"] <= 120


def test_a_client_requires_a_profile(stack, clients, metadata, new_visitor):  # noqa: F811
    client, visitor = session("profiled"), new_visitor()
    url, state, verifier, _ = begin(client, metadata)
    assert visitor.open(url) is None and visitor.follow("/sign-in/apple") is None
    visitor.pass_provider()
    assert visitor.path.startswith("/my/profile?request="), visitor.path
    silent = visitor.open(begin(client, metadata, prompt="none")[0])
    assert "error=interaction_required" in silent
    assert visitor.open(url) is None and visitor.path.startswith("/my/profile?request=")
    cancelled = visitor.follow("/oauth2/authorize/continue")
    assert "error=access_denied" in cancelled and f"state={state}" in cancelled and "code=" not in cancelled
    assert visitor.open(begin(client, metadata, ui_locales="de")[0]) is None and 'lang="de"' in visitor.text, visitor.text
    assert visitor.open(url) is None and visitor.path.startswith("/my/profile?request=")
    visitor.send("/my/profile", phone_number="")
    assert visitor.response.status_code == 422 and "role=\"alert\"" in visitor.text
    visitor.send("/my/profile", phone_number=visitor.person.phone)
    assert visitor.response.status_code == 200
    back = visitor.follow("/oauth2/authorize/continue")
    token = keep(stack, client.fetch_token(
        metadata["token_endpoint"], authorization_response=back, state=state, code_verifier=verifier))
    told = client.get(metadata["userinfo_endpoint"], timeout=15).json()
    assert token["access_token"] and told["phone_number"] == visitor.person.phone and told["name"] == visitor.person.name
    assert "code=" in visitor.open(begin(client, metadata)[0]), "from now on at once"


def test_a_client_is_switched_off(stack, clients, metadata, browser):  # noqa: F811
    client = session("switched")
    token = tokens(stack, metadata, browser, client)

    def switch(entries):
        next(entry for entry in entries if entry["id"] == "switched")["disabled"] = True

    write(stack, switch)
    process_table.wait_until(lambda: not is_known(metadata, "switched"), SECONDS, lambda: "the client off")
    assert browser.open(begin(client, metadata)[0]) is None
    assert browser.response.status_code == 400
    with pytest.raises(authlib.integrations.requests_client.OAuthError, match="unauthorized_client"):
        client.refresh_token(metadata["token_endpoint"], refresh_token=token["refresh_token"])


def test_a_faulty_file_changes_nothing(stack, clients, metadata):  # noqa: F811
    path = stack.folder / "clients.json"
    good = path.read_text()
    path.write_text("{")
    try:
        time.sleep(6)
        assert is_known(metadata, "orders")
    finally:
        path.write_text(good)
