"""The food delivery app's story: a code alone from two App IDs with two keys, access tokens, an account asked for and made."""

import json
import secrets
import time
import urllib.parse

import jwt
import pytest

import tokens
from food_app import DEBUG_APP, STORE_APP, FoodApp
from phone import Phone


@pytest.mark.parametrize("app_id", [STORE_APP, DEBUG_APP])
def test_a_code_alone(phone, apple, app_id):
    app = FoodApp(phone, app_id)
    before = apple.calls("token")
    session = app.sign_in()
    assert apple.calls("token") == before + 1
    assert session["is_new_user"] is True
    assert session["suggested_display_name"] == phone.person.name
    header, claims = tokens.verify(session["access_token"], phone.gateway.get("/.well-known/jwks.json").expect(200))
    assert claims["client_id"] == app_id and claims["sub"] == session["user_id"]
    # The e-mail is the one in the ID token that came back.
    assert tokens.parts(session["id_token"])[1]["email"] == phone.person.email
    phone.gateway.get("/me", token=session["access_token"]).expect(200)
    assert app.keychain == {}, "the account is confirmed"


def test_both_app_ids_know_one_person(phone):
    """The developer is the same, and so is Apple's name for the person."""
    store = FoodApp(phone).sign_in()
    debug = FoodApp(Phone(phone.stack, phone.person), DEBUG_APP).sign_in()
    assert debug["user_id"] == store["user_id"]
    assert debug["is_new_user"] is False and debug["suggested_display_name"] == phone.person.name


def apple_keys(stack):
    """The key of each App ID, as `make run` writes it, and the text of its private half."""
    file = stack.folder / "providers.json"
    (apple,) = [each for each in json.loads(file.read_text())["providers"] if each["name"] == "apple"]
    keys = {each["id"]: each["apple_key"] for each in apple["audiences"]}
    return {
        app_id: key | {"private_key": (file.parent / key["private_key_file"]).read_text()} for app_id, key in keys.items()}


def exchange_by_hand(stack, app_id, code, key, private_key):
    """What Apple answers to a client secret that a library of others made."""
    now = int(time.time())
    secret = jwt.encode(
        {"iss": key["team_id"], "sub": app_id, "aud": "https://appleid.apple.com", "iat": now, "exp": now + 300},
        private_key, algorithm="ES256", headers={"kid": key["key_id"]})
    body = urllib.parse.urlencode({
        "client_id": app_id, "client_secret": secret, "code": code, "grant_type": "authorization_code"})
    return stack.simulator.send(
        "POST", "/apple/auth/token", body=body.encode(), headers={"Content-Type": "application/x-www-form-urlencoded"})


def test_each_app_id_has_its_own_key(phone, stack):
    """The simulated Apple refuses a secret that another app's key signed, so a code that was exchanged shows the right one."""
    keys = apple_keys(stack)
    store, debug = keys[STORE_APP], keys[DEBUG_APP]
    assert store["key_id"] != debug["key_id"] and store["private_key"] != debug["private_key"]
    app = FoodApp(phone, DEBUG_APP)
    body = app.apple_body()
    for key in (debug, store):
        answer = exchange_by_hand(stack, DEBUG_APP, body["authorization_code"], key, store["private_key"])
        assert (answer.status, answer.json["error"]) == (400, "invalid_client")
    app.post("apple", body).expect(200)
    # It would have refused ours too, had the code gone to it with the store's key.
    other = FoodApp(Phone(stack), DEBUG_APP).apple_body()["authorization_code"]
    assert exchange_by_hand(stack, DEBUG_APP, other, debug, debug["private_key"]).status == 200


@pytest.mark.parametrize("provider", ["apple", "facebook", "google"])
def test_asking_for_an_account_before_making_one(phone, stack, provider):
    app = FoodApp(phone)
    body = app.body_of[provider]()
    accounts = "SELECT count(*) FROM identity.accounts;"
    before = stack.sql(accounts)
    app.check_existing(provider, body).problem(404, "ACCOUNT_NOT_FOUND")
    assert stack.sql(accounts) == before
    assert provider != "apple" or app.keychain == {"full_name": phone.person.name, "email": phone.person.email}
    # The person agrees to the terms; the app sends the same credentials within the minute.
    created = app.post(provider, body).expect(200)
    assert created["is_new_user"] is True and stack.sql(accounts) == str(int(before) + 1)
    # From now on there is one.
    existing = FoodApp(Phone(stack, phone.person))
    session = existing.check_existing(provider, existing.body_of[provider]()).expect(200)
    assert session["user_id"] == created["user_id"] and session["is_new_user"] is False


def test_the_keychain_names_the_person_at_last(phone):
    """Apple sends name and e-mail once; they stay in the keychain until an account is confirmed, for days if needed."""
    app = FoodApp(phone)
    lost = app.apple_body()
    app.check_existing("apple", lost).problem(404, "ACCOUNT_NOT_FOUND")
    again = app.apple_body()
    assert app.keychain["full_name"] == phone.person.name
    assert app.post("apple", again).expect(200)["suggested_display_name"] == phone.person.name


@pytest.mark.parametrize("provider", ["facebook", "google"])
def test_an_access_token_alone(phone, provider):
    app = FoodApp(phone)
    session = app.post(provider, app.body_of[provider]()).expect(200)
    assert session["is_new_user"] is True
    assert session["suggested_display_name"] == phone.person.name
    assert tokens.parts(session["id_token"])[1]["email"] == phone.person.email
    # The provider's access token lives on: every start of the app sends one.
    again = app.post(provider, app.body_of[provider]()).expect(200)
    assert again["user_id"] == session["user_id"] and again["is_new_user"] is False


def test_three_providers_are_three_accounts(phone):
    """An e-mail is no key, and nothing is linked that nobody asked to link."""
    app = FoodApp(phone)
    ids = {app.post(provider, body()).expect(200)["user_id"] for provider, body in app.body_of.items()}
    assert len(ids) == 3


def test_facebooks_limited_login(phone):
    """An ID token like any other provider's, where the person lets the app track nothing."""
    app = FoodApp(phone)
    nonce = secrets.token_hex(16)
    phone.keep_secret(nonce)
    token = phone.facebook(nonce=nonce)["id_token"]
    session = app.post("facebook", {"id_token": token, "nonce": nonce}).expect(200)
    # Facebook's subject of the user is the same in both kinds of tokens.
    assert app.post("facebook", app.facebook_body()).expect(200)["user_id"] == session["user_id"]


def test_an_id_token_that_comes_along_is_proven_by_its_code(phone):
    """The debug app's audience gives no nonce: the code must come along, and is exchanged."""
    credential = phone.apple(DEBUG_APP)
    app = FoodApp(phone, DEBUG_APP)
    body = {"identity_token": credential.identity_token, "authorization_code": credential.authorization_code}
    session = app.post("apple", body).expect(200)
    assert phone.stack.sql(
        f"SELECT proof FROM identity.sessions WHERE session_id = '{session['session_id']}';") == "code"


def test_how_each_session_was_proven(phone, stack):
    app = FoodApp(phone)

    def proof(provider):
        session = app.post(provider, app.body_of[provider]()).expect(200)
        return stack.sql(f"SELECT proof FROM identity.sessions WHERE session_id = '{session['session_id']}';")

    assert {provider: proof(provider) for provider in app.body_of} == {
        "apple": "code", "facebook": "access_token", "google": "access_token"}
