"""The provider simulator: what a phone would get from Apple and Google."""

import base64
import hashlib
import time

import tokens
from app import Person, letters


def ask(stack, provider, person, client_id="com.example.other", nonce="claim", **more):
    order = {"client_id": client_id, "nonce": nonce, "person": person, **more}
    return stack.simulator.post(f"/control/{provider}/sign-in", order).expect(200)


def published(stack, path):
    return {key["kid"] for key in stack.simulator.get(path).expect(200)["keys"]}


def test_apple(stack):
    person = Person()
    first = ask(stack, "apple", person.simulated)
    assert set(first) == {"identity_token", "authorization_code", "user"}
    assert first["user"] == {
        "name": {"firstName": person.given_name, "lastName": person.family_name}, "email": person.email}
    header, claims = tokens.parts(first["identity_token"])
    assert header["alg"] == "RS256" and header["kid"] in published(stack, "/apple/auth/keys")
    assert (claims["iss"], claims["aud"]) == ("https://appleid.apple.com", "com.example.other")
    assert claims["nonce"] == "claim" and claims["nonce_supported"] is True
    assert (claims["email"], claims["email_verified"]) == (person.email, True)
    assert "name" not in claims
    assert claims["iat"] <= time.time() < claims["exp"]
    # OpenID Connect Core section 3.3.2.11.
    half = hashlib.sha256(first["authorization_code"].encode()).digest()[:16]
    assert claims["c_hash"] == base64.urlsafe_b64encode(half).rstrip(b"=").decode()


def test_apple_sends_the_name_once_to_each_client(stack):
    person = Person().simulated
    assert "user" in ask(stack, "apple", person)
    assert "user" not in ask(stack, "apple", person)
    assert "user" in ask(stack, "apple", person, client_id="com.example.third")
    assert "user" not in ask(stack, "apple", person, client_id="com.example.third")


def test_the_same_person_is_the_same_subject(stack):
    def subject(provider, person):
        answer = ask(stack, provider, person)
        return tokens.parts(answer.get("identity_token") or answer["id_token"])[1]["sub"]

    person, other = Person().simulated, Person().simulated
    for provider in ("apple", "google"):
        assert subject(provider, person) == subject(provider, {"email": person["email"]})
        assert subject(provider, person) != subject(provider, other)
        assert subject(provider, person | {"sub": "given"}) == "given"
    assert subject("apple", person) != subject("google", person)


def test_apple_may_hide_the_email(stack):
    person = Person()
    first = ask(stack, "apple", person.simulated | {"hide_email": True})
    claims = tokens.parts(first["identity_token"])[1]
    assert claims["email"].endswith("@privaterelay.appleid.com") and claims["is_private_email"] is True
    assert first["user"]["email"] == claims["email"]
    assert person.email not in str(claims)


def test_google(stack):
    person = Person()
    answer = ask(stack, "google", person.simulated)
    assert set(answer) == {"id_token", "authorization_code", "access_token"}
    header, claims = tokens.parts(answer["id_token"])
    assert header["kid"] in published(stack, "/google/oauth2/v3/certs")
    assert (claims["iss"], claims["aud"]) == ("https://accounts.google.com", "com.example.other")
    assert (claims["email"], claims["name"]) == (person.email, person.name)
    assert (claims["given_name"], claims["family_name"]) == (person.given_name, person.family_name)


def test_a_person_without_an_email_signs_in(new_app):
    app = new_app()
    order = {
        "client_id": "com.example.app", "nonce": hashlib.sha256(b"raw").hexdigest(),
        "person": {"sub": f"001234.{letters(32)}.0001"}}
    answer = app.stack.simulator.post("/control/apple/sign-in", order).expect(200)
    assert answer["user"] == {"name": {}}
    session = app.present("apple", {"identity_token": answer["identity_token"], "nonce": "raw"}).expect(200)
    assert session["is_new_user"] is True and session["suggested_display_name"] is None
