"""The Cognito demo on iOS and Android, and its bodies in TypeScript: the answer that all three read."""

import http.client

import pytest

import process_table
import tokens
from cognito_demo import DECODER, KOTLIN, TYPESCRIPT, NativeApp, apple_body, google_body
from elapsed import credentials_older_by_two_minutes
from http_client import Client
from phone import APP, BARE, GOOGLE_IOS, GOOGLE_WEB, SERVICES, Phone
from shapes import expect_shape


@pytest.fixture
def app(phone):
    return NativeApp(phone)


def expect_answer(answer, decoder):
    """An answer that the decoders of all three apps accept."""
    body = answer.expect(200)
    assert {"id_token", "access_token", "refresh_token", "expires_in"} <= set(body)
    expect_shape(body, KOTLIN)
    expect_shape(body, TYPESCRIPT)
    # The demo's apps never refresh: as its backend has it, an hour.
    id_token = tokens.parts(body["id_token"])[1]
    assert body["expires_in"] == 3600 == id_token["exp"] - id_token["iat"]
    assert decoder.decode("", answer.content) == {name: body[name] for name in KOTLIN_NAMES}
    return body


KOTLIN_NAMES = [name.removesuffix("?") for name in KOTLIN]


@pytest.fixture
def decoder(compiled):
    return compiled(DECODER)


@pytest.mark.parametrize("client_id", [BARE, SERVICES])
def test_apple_without_a_nonce(phone, decoder, client_id):
    app = NativeApp(phone, client_id)
    body = expect_answer(app.sign_in_with_apple(), decoder)
    claims = tokens.verify(body["id_token"], phone.gateway.get("/.well-known/jwks.json").expect(200))[1]
    assert (claims["email"], claims["email_verified"], claims["name"]) == (phone.person.email, True, phone.person.name)
    assert claims["sub"] == body["user_id"] and claims["aud"] == client_id
    again = expect_answer(app.sign_in_with_apple(), decoder)
    assert again["user_id"] == body["user_id"]


def test_what_is_recorded_of_a_sign_in(phone, stack):
    """Nothing proved these but that they were young; whose phone it was stands in the list of sessions."""
    app = NativeApp(phone)
    for provider, body in (("apple", apple_body(phone.apple(BARE))), ("google", google_body(phone.google()))):
        session = app.post(provider, body | {"device_name": "Pixel of somebody"}).expect(200)
        row = stack.sql(f"SELECT proof, device_name FROM identity.sessions WHERE session_id = '{session['session_id']}';")
        assert row == "fresh|Pixel of somebody"


def test_what_being_young_leaves_open_is_told_at_start(stack):
    """Of each provider with such audiences once, and of these alone."""
    told = [line for line in stack.logs()["identity.log"].splitlines() if "leaves_open" in line]
    assert len(told) == 2, told
    apple, google = sorted(told, key=lambda line: GOOGLE_WEB in line)
    assert BARE in apple and SERVICES in apple and APP not in apple
    assert GOOGLE_WEB in google and GOOGLE_IOS in google
    assert all("another backend" in line and "sign in again" in line for line in told), told


def test_the_decoder_can_refuse(decoder):
    for body in (b"{}", b'{"id_token":"i","access_token":"a","expires_in":"3600"}', b'{"id_token":"i","expires_in":1}'):
        assert decoder.refuses("", body)
    assert not decoder.refuses("", b'{"id_token":"i","access_token":"a","refresh_token":null,"expires_in":3600}')


@pytest.mark.parametrize("client_id, order", [
    (GOOGLE_WEB, {}), (GOOGLE_IOS, {"sdk": "ios"})], ids=["Android and web", "iOS, with a nonce of the SDK's own"])
def test_google_without_a_nonce(phone, decoder, client_id, order):
    """Several client ids; Android's Credential Manager puts no nonce in, and Google's iOS SDK one that the app doesn't know."""
    app = NativeApp(phone)
    answer = phone.google(client_id, **order)
    assert ("nonce" in tokens.parts(answer["id_token"])[1]) == bool(order)
    body = expect_answer(app.post("google", google_body(answer, phone.person)), decoder)
    claims = tokens.parts(body["id_token"])[1]
    assert (claims["email"], claims["name"], claims["aud"]) == (phone.person.email, phone.person.name, client_id)


@pytest.mark.parametrize("provider", ["apple", "google"])
@pytest.mark.parametrize("how", ["null", "missing"])
def test_members_may_be_null_or_missing(phone, decoder, provider, how):
    app = NativeApp(phone)
    body = apple_body(phone.apple(BARE)) if provider == "apple" else google_body(phone.google())
    needed = "identity_token" if provider == "apple" else "id_token"
    body = {name: value for name, value in body.items() if name == needed} | (
        {name: None for name in body if name != needed} if how == "null" else {})
    expect_answer(app.post(provider, body), decoder)


def test_nobody_is_found_by_an_email(phone, stack, new_phone):
    """In the demo, a user got the account of any e-mail that the app sent. Here only the provider's subject finds an account."""
    app = NativeApp(phone)
    mine = app.sign_in_with_apple().expect(200)
    thief = NativeApp(new_phone())
    told = apple_body(thief.phone.apple(BARE)) | {"email": phone.person.email}
    theirs = thief.post("apple", told).expect(200)
    assert theirs["user_id"] != mine["user_id"]
    # An e-mail that the app tells never replaces one that a token told.
    assert tokens.parts(theirs["id_token"])[1]["email"] == thief.phone.person.email
    google = NativeApp(Phone(stack, phone.person))
    assert google.post("google", google_body(google.phone.google(), phone.person)).expect(200)["user_id"] != mine["user_id"]


def test_the_session_goes_on(app):
    """Kotlin's and TypeScript's refresh is our own route."""
    body = app.sign_in_with_apple().expect(200)
    refreshed = app.phone.gateway.post("/auth/refresh", {"refresh_token": body["refresh_token"]}).expect(200)
    app.phone.keep_secret(refreshed["access_token"], refreshed["refresh_token"], refreshed["id_token"])
    expect_shape(refreshed, KOTLIN)
    assert tokens.parts(refreshed["id_token"])[1]["email"] == app.phone.person.email


# The unlucky half

@pytest.mark.parametrize("provider", ["apple", "google"])
@pytest.mark.parametrize("part", [0.0, 0.5], ids=["nothing came", "half of it came"])
def test_a_lost_answer(phone, bad_network, provider, part):
    network = bad_network(phone)
    body = apple_body(phone.apple(BARE)) if provider == "apple" else google_body(phone.google())
    network.lose_next(1, part)
    with pytest.raises((OSError, http.client.HTTPException)):
        Client(network.address).post(f"/auth/{provider}", body)
    app = NativeApp(phone)
    first, again = app.post(provider, body).expect(200), app.post(provider, body).expect(200)
    assert first["is_new_user"] is True and first["session_id"] == again["session_id"]


REFUSED = {
    "expired": (dict(issued_in=-200_000, expires_in=3600), "TOKEN_EXPIRED"),
    "restored silently, and so too old": (dict(issued_in=-900), "TOKEN_STALE"),
    "of the future": (dict(issued_in=3600), "TOKEN_NOT_YET_VALID"),
    "another app's": (dict(audience="com.example.other"), "TOKEN_AUDIENCE"),
    "another issuer's": (dict(issuer="https://evil.example"), "TOKEN_ISSUER"),
    "unsigned": (dict(algorithm="none"), "TOKEN_UNSIGNED"),
    "signed with the public key as a secret": (dict(algorithm="HS256"), "TOKEN_ALGORITHM"),
    "signed by a stranger": (dict(signing_key="foreign"), "TOKEN_SIGNATURE"),
    "signed with an unknown key": (dict(signing_key="unknown"), "TOKEN_KEY_UNKNOWN"),
    "with a nonce that nobody proves": (dict(claims={"nonce": "of-somebody-else"}), "TOKEN_NONCE_MISSING"),
    "of nobody": (dict(omit=["sub"]), "TOKEN_SUBJECT"),
}


@pytest.mark.parametrize("provider", ["apple", "google"])
@pytest.mark.parametrize("fault", REFUSED)
def test_tokens_that_are_refused(phone, provider, fault):
    overrides, code = REFUSED[fault]
    app = NativeApp(phone)
    body = apple_body(phone.apple(BARE, **overrides)) if provider == "apple" else google_body(
        phone.google(overrides=overrides))
    app.post(provider, body).problem(401, code)
    # It left nothing behind, and nobody is kept out by it.
    body = apple_body(phone.apple(BARE)) if provider == "apple" else google_body(phone.google())
    assert app.post(provider, body).expect(200)["is_new_user"] is True


def test_a_token_that_was_used_before(phone, stack):
    """Where nothing proves a token but that it is young, it buys one session."""
    app = NativeApp(phone)
    body = apple_body(phone.apple(BARE))
    app.post("apple", body).expect(200)
    credentials_older_by_two_minutes(stack)
    app.post("apple", body).problem(401, "TOKEN_REPLAYED")
    other = apple_body(phone.apple(BARE))
    app.post("apple", other | {"nonce": "a nonce that the token has not"}).problem(401, "TOKEN_NONCE_MISSING")


def test_an_audience_that_asks_for_a_nonce(phone):
    NativeApp(phone, APP).sign_in_with_apple().problem(401, "TOKEN_NONCE_MISSING")


def test_providers_that_there_are_not(phone):
    for provider in ("keycloak", "cognito", "..", "APPLE"):
        assert phone.gateway.post(f"/auth/{provider}", {"id_token": "x.y.z"}).status == 404


@pytest.mark.parametrize("provider", ["apple", "google"])
def test_a_name_told_once_to_a_backend_that_could_not_verify_it(parts, without_keys, provider):
    """No keys at that moment: what came with the token is kept until a token proves it, and nobody sees it before."""
    app = NativeApp(Phone(parts.stack))
    phone, person = app.phone, app.phone.person
    if provider == "apple":
        body = apple_body(phone.apple(BARE))
    else:
        # Google's token has the name, this one hasn't: only the app tells it.
        body = google_body(phone.google(overrides={"omit": ["name", "given_name", "family_name"]}), person)
    assert body["full_name"] == person.name
    bring_back = without_keys(provider)
    app.post(provider, body).problem(503, "PROVIDER_UNAVAILABLE")
    bring_back()
    retry = body | {"full_name": None, "email": None}
    process_table.wait_until(lambda: app.post(provider, retry).status == 200, 60, "a session")
    assert app.post(provider, retry).expect(200)["suggested_display_name"] == person.name


def test_a_name_told_once_is_there_after_a_second_tap(parts, without_keys):
    """Apple gives the second tap another token, and no name."""
    app = NativeApp(Phone(parts.stack))
    name = app.phone.person.name
    body = apple_body(app.phone.apple(BARE))
    assert body["full_name"] == name
    bring_back = without_keys("apple")
    app.post("apple", body).problem(503, "PROVIDER_UNAVAILABLE")
    bring_back()

    answers = []

    def second_tap_signs_in():
        again = apple_body(app.phone.apple(BARE))
        assert again["full_name"] is None and again["identity_token"] != body["identity_token"]
        answers.append(app.post("apple", again))
        return answers[-1].status == 200

    process_table.wait_until(second_tap_signs_in, 60, "a session")
    assert answers[-1].json["is_new_user"] and answers[-1].json["suggested_display_name"] == name
