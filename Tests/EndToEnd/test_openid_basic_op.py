"""What the OpenID Foundation's plan `oidcc-basic-certification-test-plan` checks of a provider (discovery, static client), line by line.

The modules are those that public results and runners of the plan name (conformance suite 5.1). What each of them checks is known from these and
from the specification that it belongs to: the suite itself was not run, since it is a Java program that no package here carries. Three modules
end with a picture for a person to look at (prompt-login, max-age-1, ensure-registered-redirect-uri); here the page is looked at by its text.
"""

import base64
import json
import secrets
import time
import urllib.parse

import authlib.oauth2.rfc7636
import joserfc.jwk
import joserfc.jwt
import pytest
import requests

import process_table
from browser import Browser
from test_openid import REDIRECT, browser, email_of, issuer, metadata, sign_in  # noqa: F401
from test_openid_clients import SECONDS, is_known, write

#: Modules that a provider without the feature skips, by its metadata.
SKIPPED = {
    "oidcc-scope-address": "scopes_supported has no address",
    "oidcc-scope-all": "as scope-address",
    "oidcc-idtoken-unsigned": "only for clients that are registered for alg none; not part of the plan with a static client",
}
MODULES = """
    server response-type-missing idtoken-signature userinfo-get userinfo-post-header userinfo-post-body
    ensure-request-without-nonce-succeeds-for-code-flow scope-profile scope-email scope-phone ensure-other-scope-order-succeeds
    display-page display-popup prompt-login prompt-none-not-logged-in prompt-none-logged-in max-age-1 max-age-10000
    ensure-request-with-unknown-parameter-succeeds id-token-hint login-hint ui-locales claims-locales
    ensure-request-with-acr-values-succeeds codereuse codereuse-30seconds ensure-registered-redirect-uri
    ensure-post-request-succeeds server-client-secret-post unsigned-request-object-supported-correctly-or-rejected-as-unsupported
    claims-essential ensure-request-object-with-redirect-uri refresh-token ensure-request-with-valid-pkce-succeeds
""".split()
CLIENT = "basic-op"
SECRET = secrets.token_hex(32)


@pytest.fixture(scope="module")
def client(stack, metadata):  # noqa: F811
    import hashlib

    entry = {"id": CLIENT, "name": "Basic OP", "secret_sha256": [hashlib.sha256(SECRET.encode()).hexdigest()], "pkce": "or_nonce",
             "redirect_uris": ["http://127.0.0.1/callback"]}
    stack.confidential.add(SECRET)
    write(stack, lambda clients: clients.append(entry))
    process_table.wait_until(lambda: is_known(metadata, CLIENT), SECONDS, lambda: "the new client")
    yield
    write(stack, lambda clients: clients.remove(entry))


def url(metadata, **more):  # noqa: F811
    query = {"client_id": CLIENT, "redirect_uri": REDIRECT, "response_type": "code", "scope": "openid", "state": secrets.token_hex(8),
             "nonce": secrets.token_hex(8), **more}
    return f"{metadata['authorization_endpoint']}?" + urllib.parse.urlencode(
        {name: value for name, value in query.items() if value is not None})


def answer_of(back):
    assert back is not None and back.startswith(f"{REDIRECT}?"), back
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(back).query))


class Flow:
    """A sign-in to the end, and what came of it."""

    def __init__(self, stack, metadata, browser, by_post=False, verifier=None, **more):  # noqa: F811
        self.metadata, self.email = metadata, email_of(stack)
        self.asked = url(metadata, **more)
        back = browser.open(self.asked)
        if back is None:
            back = sign_in(browser, self.asked, self.email)
        self.answer = answer_of(back)
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.asked).query))
        assert self.answer["state"] == asked["state"] and self.answer["iss"] == metadata["issuer"]
        form = {"grant_type": "authorization_code", "code": self.answer["code"], "redirect_uri": REDIRECT}
        if verifier:
            form["code_verifier"] = verifier
        self.form = form | ({"client_id": CLIENT, "client_secret": SECRET} if by_post else {})
        self.auth = None if by_post else (CLIENT, SECRET)
        self.response = self.redeem()
        assert self.response.status_code == 200, self.response.text
        assert self.response.headers["Cache-Control"] == "no-store" and self.response.headers["Pragma"] == "no-cache"
        self.token = self.response.json()
        stack.confidential |= {self.token[name] for name in ("access_token", "refresh_token", "id_token") if name in self.token}
        assert self.token["token_type"].lower() == "bearer"
        keys = joserfc.jwk.KeySet.import_key_set(requests.get(metadata["jwks_uri"], timeout=15).json())
        decoded = joserfc.jwt.decode(
            self.token["id_token"], keys, algorithms=metadata["id_token_signing_alg_values_supported"])
        self.header, self.claims = decoded.header, decoded.claims
        now = time.time()
        assert self.claims["iss"] == metadata["issuer"] and self.claims["aud"] == CLIENT
        assert self.claims["exp"] > now and now - 300 < self.claims["iat"] <= now + 5 and 0 < len(self.claims["sub"]) <= 255
        assert self.claims.get("nonce") == asked.get("nonce")

    def redeem(self):
        return requests.post(self.metadata["token_endpoint"], data=self.form, auth=self.auth, timeout=15)

    def user_info(self):
        answer = requests.get(self.metadata["userinfo_endpoint"], timeout=15,
                              headers={"Authorization": f"Bearer {self.token['access_token']}"})
        assert answer.status_code == 200 and answer.headers["Content-Type"].startswith("application/json")
        assert answer.json()["sub"] == self.claims["sub"]
        return answer.json()


@pytest.fixture
def flow(stack, metadata, client, browser):  # noqa: F811
    return lambda **more: Flow(stack, metadata, browser, **more)


def test_each_module_has_a_test():
    tests = {name.removeprefix("test_oidcc_").replace("_", "-") for name in globals() if name.startswith("test_oidcc_")}
    assert tests == set(MODULES)
    assert not tests & {name.removeprefix("oidcc-") for name in SKIPPED}


def test_what_is_skipped_is_not_supported(metadata):  # noqa: F811
    assert "address" not in metadata["scopes_supported"] and "none" not in metadata["id_token_signing_alg_values_supported"]


def test_oidcc_server(metadata, flow):  # noqa: F811
    for name in ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri", "response_types_supported", "subject_types_supported",
                 "id_token_signing_alg_values_supported"):
        assert metadata[name]
    # Discovery section 3: RS256 must be there.
    assert "RS256" in metadata["id_token_signing_alg_values_supported"]
    assert flow().user_info()


def test_oidcc_response_type_missing(metadata, client, browser):  # noqa: F811
    back = browser.open(url(metadata, response_type=None))
    assert answer_of(back)["error"] in ("invalid_request", "unsupported_response_type")


def test_oidcc_idtoken_signature(metadata, flow):  # noqa: F811
    header = flow().header
    keys = [key for key in requests.get(metadata["jwks_uri"], timeout=15).json()["keys"] if key["kid"] == header["kid"]]
    assert len(keys) == 1 and keys[0]["use"] == "sig" and keys[0]["alg"] == header["alg"] != "none"


def test_oidcc_userinfo_get(flow):
    assert flow().user_info()["sub"]


def test_oidcc_userinfo_post_header(metadata, flow):  # noqa: F811
    done = flow()
    answer = requests.post(metadata["userinfo_endpoint"], timeout=15, headers={"Authorization": f"Bearer {done.token['access_token']}"})
    assert answer.status_code == 200 and answer.json()["sub"] == done.claims["sub"]


def test_oidcc_userinfo_post_body(metadata, flow):  # noqa: F811
    done = flow()
    answer = requests.post(metadata["userinfo_endpoint"], timeout=15, data={"access_token": done.token["access_token"]})
    assert answer.status_code == 200 and answer.json()["sub"] == done.claims["sub"]


def _pkce():
    verifier = secrets.token_urlsafe(48)
    return verifier, {"code_challenge": authlib.oauth2.rfc7636.create_s256_code_challenge(verifier), "code_challenge_method": "S256"}


def test_oidcc_ensure_request_without_nonce_succeeds_for_code_flow(flow):
    # The client may do without PKCE or without a nonce, not without both (RFC 9700 section 2.1.1).
    verifier, challenge = _pkce()
    assert "nonce" not in flow(nonce=None, verifier=verifier, **challenge).claims


def test_oidcc_scope_profile(flow):
    done = flow(scope="openid profile")
    assert set(done.token["scope"].split()) == {"openid", "profile"} and done.user_info()["name"]


def test_oidcc_scope_email(flow):
    done = flow(scope="openid email")
    told = done.user_info()
    assert told["email"] == done.email and told["email_verified"] is True


def test_oidcc_scope_phone(flow):
    # This user has no number yet: a claim that is not known is left out (Core section 5.3.2).
    assert "phone_number" not in flow(scope="openid phone").user_info()


def test_oidcc_ensure_other_scope_order_succeeds(flow):
    assert set(flow(scope="email openid").token["scope"].split()) == {"openid", "email"}


def test_oidcc_display_page(flow):
    flow(display="page")


def test_oidcc_display_popup(flow):
    flow(display="popup")


def test_oidcc_prompt_login(stack, metadata, flow, browser):  # noqa: F811
    first = flow()
    time.sleep(1.1)
    again = url(metadata, prompt="login")
    assert browser.open(again) is None and browser.page.headings, "the user is asked although the session lives"
    second = flow(prompt="login")
    assert second.claims["auth_time"] > first.claims["auth_time"]


def test_oidcc_prompt_none_not_logged_in(stack, metadata, client):  # noqa: F811
    fresh = Browser(stack.addresses["gateway"], stack.addresses["simulator"])
    assert answer_of(fresh.open(url(metadata, prompt="none")))["error"] in (
        "login_required", "interaction_required", "account_selection_required")


def test_oidcc_prompt_none_logged_in(flow):
    first = flow()
    second = flow(prompt="none")
    assert (second.claims["sub"], second.claims["auth_time"]) == (first.claims["sub"], first.claims["auth_time"])


def test_oidcc_max_age_1(metadata, flow, browser):  # noqa: F811
    first = flow()
    time.sleep(2.1)
    assert browser.open(url(metadata, max_age="1")) is None and browser.page.headings
    second = flow(max_age="1")
    assert second.claims["auth_time"] > first.claims["auth_time"]


def test_oidcc_max_age_10000(flow):
    first = flow(max_age="15000")
    second = flow(max_age="10000")
    assert first.claims["auth_time"] == second.claims["auth_time"] and first.claims["sub"] == second.claims["sub"]


def test_oidcc_ensure_request_with_unknown_parameter_succeeds(flow):
    flow(extra="foobar")


def test_oidcc_id_token_hint(stack, metadata, flow, browser):  # noqa: F811
    first = flow()
    assert flow(prompt="none", id_token_hint=first.token["id_token"]).claims["sub"] == first.claims["sub"]
    # Of another user: this browser can't answer for them.
    other = Browser(stack.addresses["gateway"], stack.addresses["simulator"])
    Flow(stack, metadata, other)
    back = other.open(url(metadata, prompt="none", id_token_hint=first.token["id_token"]))
    assert answer_of(back)["error"] == "login_required"
    assert answer_of(browser.open(url(metadata, id_token_hint="x.y.z")))["error"] == "invalid_request"


def test_oidcc_login_hint(flow):
    flow(login_hint="buffy@example.com")


def test_oidcc_ui_locales(flow):
    flow(ui_locales="se")


def test_oidcc_claims_locales(flow):
    flow(claims_locales="se")


def test_oidcc_ensure_request_with_acr_values_succeeds(metadata, flow):  # noqa: F811
    assert flow(acr_values=metadata["acr_values_supported"][0]).claims["acr"] == metadata["acr_values_supported"][0]


def test_oidcc_codereuse(flow):
    again = flow().redeem()
    assert again.status_code == 400 and again.json()["error"] == "invalid_grant"


def test_oidcc_codereuse_30seconds(metadata, flow):  # noqa: F811
    # The code's lifetime is tested by a clock of the test's own (IdentityServiceTests); here its second use ends what the first gave.
    done = flow()
    assert done.redeem().json()["error"] == "invalid_grant"
    answer = requests.get(metadata["userinfo_endpoint"], timeout=15, headers={"Authorization": f"Bearer {done.token['access_token']}"})
    assert answer.status_code == 401


def test_oidcc_ensure_registered_redirect_uri(metadata, client, browser):  # noqa: F811
    assert browser.open(url(metadata, redirect_uri="https://evil.example.com/callback")) is None
    assert browser.response.status_code == 400 and browser.page.headings


def test_oidcc_ensure_post_request_succeeds(stack, metadata, client, browser):  # noqa: F811
    parameters = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url(metadata)).query))
    browser.response = browser.session.post(metadata["authorization_endpoint"], data=parameters, timeout=15, allow_redirects=False)
    assert browser.response.status_code == 200 and browser.page.headings
    assert browser.follow("/sign-in/apple") is None
    browser.submit(action="continue", email=email_of(stack), given_name="Maria", family_name="Santos")
    assert answer_of(browser.submit())["state"] == parameters["state"]


def test_oidcc_server_client_secret_post(flow):
    assert flow(by_post=True).user_info()


def test_oidcc_unsigned_request_object_supported_correctly_or_rejected_as_unsupported(metadata, client, browser):  # noqa: F811
    assert metadata["request_parameter_supported"] is False
    assert answer_of(browser.open(url(metadata, request=_request_object())))["error"] == "request_not_supported"


def _request_object(**claims):
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part({'alg': 'none'})}.{part({'client_id': CLIENT, **claims})}."


def test_oidcc_claims_essential(metadata, flow):  # noqa: F811
    assert metadata["claims_parameter_supported"] is False
    flow(claims=json.dumps({"userinfo": {"name": {"essential": True}}}))


def test_oidcc_ensure_request_object_with_redirect_uri(metadata, client, browser):  # noqa: F811
    back = browser.open(url(metadata, request=_request_object(redirect_uri="https://evil.example.com/")))
    assert answer_of(back)["error"] == "request_not_supported", "nothing of the object is read"


def test_oidcc_refresh_token(stack, metadata, flow):  # noqa: F811
    done = flow(scope="openid offline_access")
    answer = requests.post(metadata["token_endpoint"], auth=(CLIENT, SECRET), timeout=15, data={
        "grant_type": "refresh_token", "refresh_token": done.token["refresh_token"]})
    assert answer.status_code == 200
    fresh = answer.json()
    stack.confidential |= {fresh[name] for name in ("access_token", "refresh_token", "id_token")}
    claims = json.loads(base64.urlsafe_b64decode(fresh["id_token"].split(".")[1] + "=="))
    # Core section 12.2.
    for name in ("iss", "sub", "aud", "auth_time"):
        assert claims[name] == done.claims[name]


def test_oidcc_ensure_request_with_valid_pkce_succeeds(flow):
    verifier, challenge = _pkce()
    assert flow(verifier=verifier, **challenge).user_info()


def test_a_stronger_sign_in_is_asked_for(metadata, flow, browser):  # noqa: F811
    assert {"urn:vestibule:acr:provider", "urn:vestibule:acr:passkey"} <= set(metadata["acr_values_supported"])
    first = flow(acr_values="urn:vestibule:acr:provider")
    assert first.claims["acr"] == "urn:vestibule:acr:provider"
    # What the browser's session has is enough, and an unknown value is no reason to ask.
    for values in ("urn:vestibule:acr:passkey urn:vestibule:acr:provider", "urn:example:loa1"):
        assert flow(acr_values=values).claims["auth_time"] == first.claims["auth_time"]
    # It is a wish: the sign-in that comes counts, and acr says what it was.
    time.sleep(1.1)
    assert browser.open(url(metadata, acr_values="urn:vestibule:acr:passkey")) is None and browser.page.headings
    second = flow(acr_values="urn:vestibule:acr:passkey")
    assert second.claims["auth_time"] > first.claims["auth_time"] and second.claims["acr"] == "urn:vestibule:acr:provider"
