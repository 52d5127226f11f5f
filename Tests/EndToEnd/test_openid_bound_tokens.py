"""OpenID Connect clients whose tokens are bound to a key (DPoP, RFC 9449), with proofs of two makes: joserfc's, and idpyoidc's own."""

import base64
import hashlib
import secrets
import time
import types
import urllib.parse

import authlib.oauth2.rfc7636
import cryptojwt.jwk.ec
import idpyoidc.client.oauth2.add_on.dpop
import process_table
import pytest
import requests

import tokens
from bound_app import ProofKey
from other_gateway import another_gateway
from test_openid import REDIRECT, browser, email_of, issuer, metadata, sign_in  # noqa: F401
from test_openid_clients import SECONDS, is_known, write

CLIENT = "bound"
SECONDS_OF_TEST = 15


@pytest.fixture(scope="module", autouse=True)
def client(stack, metadata):  # noqa: F811
    entry = {"id": CLIENT, "name": "Bound", "redirect_uris": ["http://127.0.0.1/callback"], "dpop": True}
    write(stack, lambda clients: clients.append(entry))
    process_table.wait_until(lambda: is_known(metadata, CLIENT), SECONDS, lambda: "the new client")
    yield
    write(stack, lambda clients: clients.remove(entry))


class Flow:
    """A client that has asked for a code, and redeems it."""

    def __init__(self, stack, metadata, browser, identifier=CLIENT, key=None, pushed=None, **more):  # noqa: F811
        self.stack, self.metadata, self.key, self.identifier = stack, metadata, key or ProofKey(), identifier
        self.nonce, self.answer, self.verifier = None, None, secrets.token_urlsafe(48)
        query = {
            "client_id": identifier, "redirect_uri": REDIRECT, "response_type": "code", "scope": "openid offline_access",
            "state": secrets.token_hex(8), "code_challenge_method": "S256",
            "code_challenge": authlib.oauth2.rfc7636.create_s256_code_challenge(self.verifier), **more}
        if pushed:
            answer = self.post(metadata["pushed_authorization_request_endpoint"], query, pushed)
            assert answer.status_code == 201, answer.text
            query = {"client_id": identifier, "request_uri": answer.json()["request_uri"]}
        back = sign_in(browser, f"{metadata['authorization_endpoint']}?{urllib.parse.urlencode(query)}", email_of(stack))
        self.code = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(back).query))["code"]

    def post(self, url, form, key=None):
        """A form with a proof, sent again with the nonce that was missing."""
        key = key or self.key
        for _ in range(2):
            answer = requests.post(
                url, data=form, headers={"DPoP": key.proof("POST", url, self.nonce)} if key != "none" else {}, timeout=SECONDS_OF_TEST)
            self.nonce = answer.headers.get("DPoP-Nonce", self.nonce)
            if answer.status_code != 400 or answer.json()["error"] != "use_dpop_nonce":
                return answer
        return answer

    def redeem(self, key=None):
        return self.take(self.post(self.metadata["token_endpoint"], {
            "grant_type": "authorization_code", "client_id": self.identifier, "code": self.code, "redirect_uri": REDIRECT,
            "code_verifier": self.verifier}, key))

    def refresh(self, key=None):
        return self.take(self.post(self.metadata["token_endpoint"], {
            "grant_type": "refresh_token", "client_id": self.identifier, "refresh_token": self.token["refresh_token"]}, key))

    def take(self, answer):
        if answer.status_code == 200:
            self.token = answer.json()
            self.stack.confidential |= {self.token[name] for name in ("access_token", "refresh_token", "id_token")}
        return answer

    def user_info(self, scheme="DPoP", key=None):
        url = self.metadata["userinfo_endpoint"]
        for _ in range(2):
            proof = (key or self.key).proof("GET", url, self.nonce, self.token["access_token"])
            answer = requests.get(
                url, headers={"Authorization": f"{scheme} {self.token['access_token']}", "DPoP": proof}, timeout=SECONDS_OF_TEST)
            self.nonce = answer.headers.get("DPoP-Nonce", self.nonce)
            if "use_dpop_nonce" not in answer.headers.get("WWW-Authenticate", ""):
                return answer
        return answer


def error(answer, word):
    assert answer.status_code == 400 and answer.json()["error"] == word, answer.text
    assert "WWW-Authenticate" not in answer.headers and answer.headers["Cache-Control"] == "no-store"


def test_the_metadata_names_the_algorithms(metadata):  # noqa: F811
    assert metadata["dpop_signing_alg_values_supported"] == ["ES256", "EdDSA", "Ed25519"]


def test_a_code_is_redeemed_for_bound_tokens(stack, metadata, browser):  # noqa: F811
    flow = Flow(stack, metadata, browser)
    assert flow.redeem().status_code == 200
    assert flow.token["token_type"] == "DPoP"
    assert tokens.parts(flow.token["access_token"])[1]["cnf"] == {"jkt": flow.key.thumbprint}
    assert flow.user_info().json()["sub"]
    assert flow.user_info("Bearer").status_code == 401
    assert flow.user_info(key=ProofKey()).status_code == 401
    form = requests.post(metadata["userinfo_endpoint"], data={"access_token": flow.token["access_token"]}, timeout=SECONDS_OF_TEST)
    assert form.status_code == 401 and form.headers["WWW-Authenticate"].startswith("DPoP ")
    error(flow.refresh("none"), "invalid_dpop_proof")
    error(flow.refresh(ProofKey()), "invalid_dpop_proof")
    before = flow.token["refresh_token"]
    assert flow.refresh().status_code == 200 and flow.token["token_type"] == "DPoP" and flow.token["refresh_token"] != before
    # Giving a token up needs no proof (RFC 7009).
    revoked = requests.post(
        metadata["revocation_endpoint"], data={"client_id": CLIENT, "token": flow.token["refresh_token"]}, timeout=SECONDS_OF_TEST)
    assert revoked.status_code == 200 and flow.user_info().status_code == 401


def test_such_a_client_gets_no_bearer_tokens(stack, metadata, browser):  # noqa: F811
    flow = Flow(stack, metadata, browser)
    error(flow.redeem("none"), "invalid_dpop_proof")
    # A client without a proof doesn't use the code up.
    assert flow.redeem().status_code == 200


def test_sessions_of_before_get_no_more_tokens(stack, metadata, browser):  # noqa: F811
    entry = {"id": "bound-later", "name": "Later", "redirect_uris": ["http://127.0.0.1/callback"]}
    write(stack, lambda clients: clients.append(entry))
    process_table.wait_until(lambda: is_known(metadata, entry["id"]), SECONDS, lambda: "the new client")
    flow = Flow(stack, metadata, browser, entry["id"])
    assert flow.redeem("none").json()["token_type"] == "Bearer" and flow.refresh("none").status_code == 200

    def demand(clients):
        next(each for each in clients if each["id"] == entry["id"])["dpop"] = True

    write(stack, demand)
    form = {"grant_type": "authorization_code", "client_id": entry["id"], "code": "vac1_x"}
    process_table.wait_until(
        lambda: requests.post(metadata["token_endpoint"], data=form, timeout=SECONDS_OF_TEST).json()["error"] == "invalid_dpop_proof",
        SECONDS, "the client's new entry")
    error(flow.refresh("none"), "invalid_dpop_proof")
    error(flow.refresh(), "invalid_grant")
    write(stack, lambda clients: clients.remove(entry | {"dpop": True}))


@pytest.mark.parametrize("pushed", ["parameter", "proof", "both"])
def test_a_code_is_bound_to_the_key_that_the_request_names(stack, metadata, browser, pushed):  # noqa: F811
    key, thief = ProofKey(), ProofKey()
    named = {} if pushed == "proof" else {"dpop_jkt": key.thumbprint}
    # A client whose entry demands nothing.
    flow = Flow(stack, metadata, browser, "demo", key, None if pushed == "parameter" else key, **named)
    for other in (thief, "none"):
        error(flow.redeem(other), "invalid_dpop_proof")
    assert flow.redeem().status_code == 200 and flow.token["token_type"] == "DPoP"


def test_a_pushed_request_names_one_key(stack, metadata):  # noqa: F811
    flow = types.SimpleNamespace(nonce=None, key=ProofKey())
    query = {"client_id": CLIENT, "redirect_uri": REDIRECT, "response_type": "code", "scope": "openid", "code_challenge_method": "S256",
             "code_challenge": "A" * 43, "dpop_jkt": ProofKey().thumbprint}
    error(Flow.post(flow, metadata["pushed_authorization_request_endpoint"], query), "invalid_dpop_proof")
    answer = requests.post(metadata["pushed_authorization_request_endpoint"], data=query | {"dpop_jkt": "short"}, timeout=SECONDS_OF_TEST)
    error(answer, "invalid_request")


def test_proofs_of_idpyoidc(stack, metadata, browser):  # noqa: F811
    """Another maker's client: it makes its header by itself, and our part is the nonce that it doesn't know of."""
    flow = Flow(stack, metadata, browser, "demo")
    key = cryptojwt.jwk.ec.new_ec_key("P-256")

    def proof(method, url, **more):
        made = idpyoidc.client.oauth2.add_on.dpop.DPoPProof(
            typ="dpop+jwt", alg="ES256", jwk=key.serialize(), jti=secrets.token_hex(16), htm=method, htu=url, iat=int(time.time()), **more)
        made.key = key
        return made.create_header()

    # It knows no nonces, so it is for a gateway that asks for none.
    with another_gateway(stack, PUBLIC_URL=metadata["issuer"], DPOP_NONCE="false") as gateway:
        base = f"http://{gateway.address}"
        answer = requests.post(
            base + urllib.parse.urlsplit(metadata["token_endpoint"]).path, headers={"DPoP": proof("POST", metadata["token_endpoint"])},
            data={"grant_type": "authorization_code", "client_id": "demo", "code": flow.code, "redirect_uri": REDIRECT,
                  "code_verifier": flow.verifier}, timeout=SECONDS_OF_TEST)
        token = flow.take(answer).json()
        assert token["token_type"] == "DPoP", token
        # The thumbprint as cryptojwt computes it.
        assert tokens.parts(token["access_token"])[1]["cnf"]["jkt"] == key.thumbprint("SHA-256").decode().rstrip("=")
        ath = base64.urlsafe_b64encode(hashlib.sha256(token["access_token"].encode()).digest()).decode().rstrip("=")
        headers = {"Authorization": f"DPoP {token['access_token']}", "DPoP": proof("GET", metadata["userinfo_endpoint"], ath=ath)}
        told = requests.get(
            base + urllib.parse.urlsplit(metadata["userinfo_endpoint"]).path, headers=headers, timeout=SECONDS_OF_TEST)
        assert told.status_code == 200 and told.json()["sub"]
