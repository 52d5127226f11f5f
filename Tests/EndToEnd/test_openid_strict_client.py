"""A client as strict as the strictest libraries, for those that no package here carries (`openid-client` for Node among them).

It checks what RFC 6749, RFC 9207, RFC 9126, RFC 7009 and OpenID Connect Core have a client check, and rejects what they allow it to
reject: media types, types of members, words in another case, parameters of other flows.
"""

import base64
import hashlib
import re
import secrets
import urllib.parse

import joserfc.jwk
import joserfc.jwt
import pytest
import requests

import process_table
from test_openid import REDIRECT, browser, email_of, issuer, metadata, sign_in  # noqa: F401
from test_openid_clients import SECONDS, is_known, write

CLIENT = "strict.client"
# RFC 6749 section 2.3.1: id and secret are encoded as a form before they are joined by a colon.
SECRET = f"{secrets.token_urlsafe(24)} :%+&=~*'()é"


@pytest.fixture(scope="module")
def client(stack, metadata):  # noqa: F811
    entry = {"id": CLIENT, "name": "Strict", "secret_sha256": [hashlib.sha256(SECRET.encode()).hexdigest()],
             "redirect_uris": ["http://127.0.0.1/callback"]}
    stack.confidential.add(SECRET)
    write(stack, lambda clients: clients.append(entry))
    process_table.wait_until(lambda: is_known(metadata, CLIENT), SECONDS, lambda: "the new client")
    yield Strict(stack, metadata)
    write(stack, lambda clients: clients.remove(entry))


class Strict:
    """One client. Each of its requests checks the whole response."""

    def __init__(self, stack, metadata):  # noqa: F811
        self.stack, self.metadata = stack, metadata
        self.keys = joserfc.jwk.KeySet.import_key_set(requests.get(metadata["jwks_uri"], timeout=15).json())

    def post(self, endpoint, status=200, **form):
        def encoded(text):
            # More than any server needs: every character but letters and digits.
            return "".join(chr(byte) if chr(byte).isascii() and chr(byte).isalnum() else f"%{byte:02X}" for byte in text.encode())

        basic = base64.b64encode(f"{encoded(CLIENT)}:{encoded(SECRET)}".encode()).decode()
        answer = requests.post(
            self.metadata[endpoint], data=form, timeout=15, allow_redirects=False,
            headers={"Authorization": f"Basic {basic}", "Accept": "application/json"})
        assert answer.status_code == status, answer.text
        return answer

    @staticmethod
    def json(answer):
        assert re.fullmatch(r"application/json(;\s*charset=utf-8)?", answer.headers["Content-Type"], re.IGNORECASE)
        found = answer.json()
        assert isinstance(found, dict)
        return found

    def request(self, verifier, **more):
        """The URL of a pushed request (RFC 9126), with its state and nonce."""
        self.state, self.nonce = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        pushed = self.json(self.post(
            "pushed_authorization_request_endpoint", 201, client_id=CLIENT, redirect_uri=REDIRECT, response_type="code",
            scope="openid email offline_access", state=self.state, nonce=self.nonce, code_challenge=challenge, code_challenge_method="S256",
            **more))
        assert isinstance(pushed["request_uri"], str) and pushed["request_uri"]
        assert type(pushed["expires_in"]) is int and pushed["expires_in"] > 0
        query = urllib.parse.urlencode({"client_id": CLIENT, "request_uri": pushed["request_uri"]})
        return f"{self.metadata['authorization_endpoint']}?{query}"

    def answer(self, back):
        """The parameters that the browser brings back."""
        fields = urllib.parse.parse_qsl(urllib.parse.urlsplit(back).query, keep_blank_values=True, strict_parsing=True)
        found = dict(fields)
        assert len(found) == len(fields), "no parameter comes twice"
        assert found["state"] == self.state
        assert self.metadata["authorization_response_iss_parameter_supported"] is True and found["iss"] == self.metadata["issuer"]
        assert not {"response", "id_token", "access_token", "token_type"} & set(found), "of other flows"
        assert not urllib.parse.urlsplit(back).fragment
        return found

    def tokens(self, **form):
        found = self.json(self.post("token_endpoint", **form))
        for name in ("access_token", "refresh_token", "id_token", "scope", "token_type"):
            assert isinstance(found[name], str) and found[name], name
        self.stack.confidential |= {found[name] for name in ("access_token", "refresh_token", "id_token")}
        assert found["token_type"].lower() == "bearer" and type(found["expires_in"]) is int and found["expires_in"] > 0
        assert not set(found) - {"access_token", "refresh_token", "id_token", "scope", "token_type", "expires_in"}, found.keys()
        return found, self.id_token(found["id_token"])

    def id_token(self, text):
        decoded = joserfc.jwt.decode(text, self.keys, algorithms=self.metadata["id_token_signing_alg_values_supported"])
        claims = decoded.claims
        assert "crit" not in decoded.header and decoded.header["kid"]
        assert claims["iss"] == self.metadata["issuer"] and claims["aud"] == CLIENT and claims.get("azp", CLIENT) == CLIENT
        assert isinstance(claims["sub"], str) and 0 < len(claims["sub"]) <= 255
        for name in ("exp", "iat", "auth_time"):
            assert type(claims[name]) is int and claims[name] > 0, name
        assert claims["exp"] > claims["iat"]
        return claims

    def error(self, endpoint, status, word, **form):
        answer = self.post(endpoint, status, **form)
        found = self.json(answer)
        assert found["error"] == word and isinstance(found.get("error_description", ""), str)
        # RFC 6749 section 5.2 allows these characters alone.
        assert re.fullmatch(r"[\x20-\x21\x23-\x5B\x5D-\x7E]+", found.get("error_description", "-"))
        return answer


def test_the_metadata_is_of_the_right_types(metadata, issuer):  # noqa: F811
    for name, value in metadata.items():
        if name.endswith(("_endpoint", "_uri")):
            assert value.startswith(f"{issuer}/") and not urllib.parse.urlsplit(value).fragment, name
        elif name.endswith("_supported") and not isinstance(value, bool):
            assert isinstance(value, list) and value and all(isinstance(word, str) for word in value) and len(set(value)) == len(value), name
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    other = requests.get(f"{issuer}/.well-known/oauth-authorization-server", timeout=15)
    assert other.status_code == 200 and other.json()["issuer"] == issuer


def test_the_whole_way(stack, client, browser):  # noqa: F811
    verifier = secrets.token_urlsafe(48)
    back = sign_in(browser, client.request(verifier), email_of(stack))
    code = client.answer(back)["code"]
    redeem = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, "code_verifier": verifier}
    first, claims = client.tokens(**redeem)
    assert claims["nonce"] == client.nonce
    info = requests.get(client.metadata["userinfo_endpoint"], headers={"Authorization": f"Bearer {first['access_token']}"}, timeout=15)
    assert info.status_code == 200 and client.json(info)["sub"] == claims["sub"]

    second, again = client.tokens(grant_type="refresh_token", refresh_token=first["refresh_token"])
    for name in ("iss", "sub", "aud", "auth_time", "sid"):
        assert again[name] == claims[name], name
    assert again.get("nonce", client.nonce) == client.nonce and again["iat"] >= claims["iat"]

    assert client.post("revocation_endpoint", token=second["refresh_token"], token_type_hint="refresh_token").text == ""
    gone = requests.get(client.metadata["userinfo_endpoint"], headers={"Authorization": f"Bearer {second['access_token']}"}, timeout=15)
    assert gone.status_code == 401
    client.error("token_endpoint", 400, "invalid_grant", grant_type="refresh_token", refresh_token=second["refresh_token"])


def test_errors_are_those_of_the_specification(client, browser):  # noqa: F811
    client.error("token_endpoint", 400, "invalid_grant", grant_type="authorization_code", code="c", redirect_uri=REDIRECT, code_verifier="v" * 43)
    client.error("token_endpoint", 400, "unsupported_grant_type", grant_type="password", username="u", password="p")
    client.error("token_endpoint", 400, "invalid_request", code="c")
    refused = requests.post(client.metadata["token_endpoint"], data={"grant_type": "refresh_token"}, auth=("nobody", "secret"), timeout=15)
    assert refused.status_code == 401 and client.json(refused)["error"] == "invalid_client"
    challenge = r'Basic(\s+[a-z_]+="[^"]*"(,\s*[a-z_]+="[^"]*")*)?'
    assert re.fullmatch(challenge, refused.headers["WWW-Authenticate"]), refused.headers["WWW-Authenticate"]
    info = requests.get(client.metadata["userinfo_endpoint"], headers={"Authorization": "Bearer nothing"}, timeout=15)
    assert info.status_code == 401
    assert re.fullmatch(r'Bearer\s+[a-z_]+="[^"]*"(,\s*[a-z_]+="[^"]*")*', info.headers["WWW-Authenticate"])
    assert 'error="invalid_token"' in info.headers["WWW-Authenticate"]
    silent = browser.open(client.request(secrets.token_urlsafe(48), prompt="none"))
    assert client.answer(silent)["error"] == "login_required"
