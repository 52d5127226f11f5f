"""The food delivery app's story: a code alone from two App IDs with two keys, access tokens, an account asked for and made."""

import json
import subprocess

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


def test_each_app_id_has_its_own_key(stack):
    """Client secrets as a library of others verifies them, with the public halves of the configured keys."""
    providers = json.loads(providers_file(stack).read_text())["providers"]
    (apple,) = [each for each in providers if each["name"] == "apple"]
    keys = {each["id"]: each["apple_key"] for each in apple["audiences"] if "apple_key" in each}
    assert keys[STORE_APP]["key_id"] != keys[DEBUG_APP]["key_id"]
    publics = {app_id: public_key(stack, key) for app_id, key in keys.items()}
    assert publics[STORE_APP] != publics[DEBUG_APP]
    for pem in publics.values():
        jwt.algorithms.ECAlgorithm(jwt.algorithms.ECAlgorithm.SHA256).prepare_key(pem)


def test_a_secret_signed_with_another_apps_key_is_refused_by_apple(phone, stack, simulated_clients):
    """The simulated Apple checks the secret: were the keys mixed up, no code could be exchanged."""
    app = FoodApp(phone, DEBUG_APP)
    body = app.apple_body()
    # Apple is told that the debug app's key is the store's.
    keys = simulated_clients.keys
    simulated_clients.register(DEBUG_APP, keys[DEBUG_APP] | {"private_key_file": keys[STORE_APP]["private_key_file"]})
    answer = app.post("apple", body)
    assert answer.status >= 400 and app.session is None, answer.content
    # Our fault is not the person's: the same code is good once the key is.
    simulated_clients.register(DEBUG_APP, keys[DEBUG_APP])
    app.post("apple", body).expect(200)


def providers_file(stack):
    """As `make run` writes it."""
    return stack.folder / "providers.json"


def public_key(stack, key):
    """The public half of a private key file, which is relative to the providers file."""
    private = providers_file(stack).parent / key["private_key_file"]
    return subprocess.run(
        ["openssl", "pkey", "-in", str(private), "-pubout"], capture_output=True, check=True, text=True).stdout


class SimulatedClients:
    """Which key the simulated Apple knows of each App ID."""

    def __init__(self, stack):
        self._stack = stack
        (apple,) = [
            each for each in json.loads(providers_file(stack).read_text())["providers"] if each["name"] == "apple"]
        self.keys = {each["id"]: each["apple_key"] for each in apple["audiences"] if "apple_key" in each}

    def register(self, app_id, key):
        self._stack.simulator.post("/control/apple/clients", {
            "client_id": app_id, "team_id": key["team_id"], "key_id": key["key_id"],
            "public_key_pem": public_key(self._stack, key)}).expect(200)


@pytest.fixture
def simulated_clients(stack):
    clients = SimulatedClients(stack)
    yield clients
    for app_id, key in clients.keys.items():
        clients.register(app_id, key)


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
    """Name and e-mail are told once, and stay in the keychain until an account is confirmed: days, if need be."""
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
    token = phone.facebook()["id_token"]
    session = app.post("facebook", {"id_token": token}).expect(200)
    # Facebook's name for the person is one and the same, however it is told.
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
