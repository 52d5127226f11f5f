"""What others see in our access tokens, by PyJWT and the published keys, and what identity makes of ones that were changed."""

import hmac

import jwt
import pytest

import tokens
from app import GOOGLE_CLIENT

LABEL = b"vestibule access token mac 1"
# An app of the local stack whose sessions get no ID token.
PLAIN_CLIENT = f"plain.{GOOGLE_CLIENT}"


def decoded(app, token):
    """As a service of others takes it: by the key set alone."""
    address = app.stack.addresses["gateway"]
    key_set = jwt.PyJWKSet.from_dict(app.gateway.get("/.well-known/jwks.json").expect(200))
    key = key_set[jwt.get_unverified_header(token)["kid"]]
    return jwt.decode(
        token, key, algorithms=["ES256"], audience="vestibule", issuer=f"http://{address}",
        options={"require": ["iss", "sub", "aud", "iat", "exp"]})


def made_mac(stack, token):
    """The claim as it must be, by Python's own HMAC."""
    header, payload, _ = token.split(".")
    content = tokens.decode(payload)[:-len(',"mac":""}') - 22]
    key = hmac.digest(tokens.decode(tokens.own_key(stack, "refresh")), LABEL, "sha256")
    return tokens.encode(hmac.digest(key, LABEL + header.encode() + b"." + content, "sha256")[:16])


def test_who_has_the_key_set_verifies_it(app):
    claims = decoded(app, app.access_token)
    assert claims["sub"] == app.user_id
    assert list(claims) == [
        "iss", "sub", "aud", "client_id", "iat", "exp", "jti", "sid", "num", "auth_time", "acr", "is_anonymous", "mac"]
    assert claims == tokens.verify(app.access_token, app.gateway.get("/.well-known/jwks.json").expect(200))[1]


def test_the_mac_is_over_header_and_payload(app, stack):
    assert decoded(app, app.access_token)["mac"] == made_mac(stack, app.access_token)


def test_a_changed_signature_is_seen_by_everybody_but_identity(app):
    header, payload, signature = app.access_token.split(".")
    for other in ("A" * len(signature), signature[::-1][1:] + "A"):
        changed = f"{header}.{payload}.{other}"
        with pytest.raises(jwt.InvalidSignatureError):
            decoded(app, changed)
        with pytest.raises(AssertionError):
            tokens.verify(changed, app.gateway.get("/.well-known/jwks.json").expect(200))
        # What it says is what identity wrote.
        assert app.gateway.get("/me", token=changed).expect(200)["user_id"] == app.user_id
    for other in ("", signature[:-1], signature + "A", "=" * len(signature), signature[:-1] + "/"):
        app.gateway.get("/me", token=f"{header}.{payload}.{other}").problem(401, "ACCESS_TOKEN_INVALID")


def test_a_changed_payload_is_seen_by_everybody(app, new_app):
    header, payload, signature = app.access_token.split(".")
    other = new_app()
    other.sign_in()
    content = tokens.decode(payload)
    changes = [
        content.replace(app.user_id.encode(), other.user_id.encode()),
        content.replace(app.session["session_id"].encode(), other.session["session_id"].encode()),
        content.replace(b'"exp":', b'"exp":9'), content + b" ", content[:-1] + b',"x":1}', b"{" + content[-32:][1:],
        content.replace(b'"mac"', b'"\\u006dac"')]
    for changed in changes:
        assert changed != content
        token = f"{header}.{tokens.encode(changed)}.{signature}"
        app.gateway.get("/me", token=token).problem(401, "ACCESS_TOKEN_INVALID")
        app.gateway.post("/auth/sign-out", token=token)
        with pytest.raises(jwt.InvalidTokenError):
            decoded(app, token)
    app.get("/me").expect(200)
    other.get("/me").expect(200)


def test_a_token_of_the_version_before_is_good(app, stack):
    """It has no MAC: the signature decides."""
    header, claims = tokens.parts(app.access_token)
    del claims["mac"]
    token = tokens.sign(header, claims, tokens.own_key(stack, "signing"))
    stack.confidential.add(token)
    app.gateway.get("/me", token=token).expect(200)
    app.gateway.get("/me", token=token[:-80] + token[-80:].swapcase()).problem(401, "ACCESS_TOKEN_INVALID")


def test_an_audience_without_id_tokens(new_app):
    app = new_app()
    app.members_left_out = {"id_token"}
    app.present("google", app.ask_google(client_id=PLAIN_CLIENT)).expect(200)
    app.refresh().expect(200)
    app.get("/me").expect(200)
