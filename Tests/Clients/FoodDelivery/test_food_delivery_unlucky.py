"""The food delivery app on a bad day: lost answers, codes that are spent, providers that are slow or down, foreign tokens."""

import concurrent.futures
import http.client

import pytest

import process_table
from elapsed import credentials_older_by_two_minutes
from food_app import DEBUG_APP, STORE_APP, FoodApp
from parts import Stopwatch
from phone import BARE, FACEBOOK, GOOGLE_IOS, Phone

# The gateway's limit on a request is 5 s; a busy machine gets more.
DEADLINE_SECONDS = 8


@pytest.mark.parametrize("part", [0.0, 0.5], ids=["nothing came", "half of it came"])
def test_a_lost_answer(phone, apple, bad_network, stack, part):
    """The same code again within a minute: the same session, and nothing is exchanged twice."""
    network = bad_network(phone)
    app = FoodApp(phone, STORE_APP, network.address)
    body = app.apple_body()
    before = apple.calls("token")
    network.lose_next(1, part)
    with pytest.raises((OSError, http.client.HTTPException)):
        app.post("apple", body)
    assert app.keychain, "nothing is confirmed"
    session = app.post("apple", body).expect(200)
    assert session["is_new_user"] is True and session["suggested_display_name"] == phone.person.name
    assert apple.calls("token") == before + 1
    assert stack.sql(f"SELECT count(*) FROM identity.sessions WHERE user_id = '{session['user_id']}';") == "1"


def test_the_same_code_later(phone):
    app = FoodApp(phone)
    body = app.apple_body()
    first = app.post("apple", body).expect(200)
    again = app.post("apple", body).expect(200)
    assert (again["session_id"], again["refresh_token"]) == (first["session_id"], first["refresh_token"])
    credentials_older_by_two_minutes(phone.stack)
    app.post("apple", body).problem(401, "CODE_SPENT")
    # What it bought stays.
    phone.gateway.get("/me", token=first["access_token"]).expect(200)


@pytest.mark.parametrize("provider", ["apple", "facebook", "google"])
def test_a_double_tap(phone, apple, provider):
    """Eight requests at the same moment: one session for a code, and one exchange."""
    app = FoodApp(phone)
    body = app.body_of[provider]()
    before = apple.calls("token")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = [each.expect(200) for each in pool.map(lambda _: phone.gateway.post(f"/auth/{provider}", body), range(8))]
    for answer in answers:
        phone.keep_secret(answer["access_token"], answer["refresh_token"], answer["id_token"])
    assert len({answer["user_id"] for answer in answers}) == 1
    if provider == "apple":
        assert len({(answer["session_id"], answer["refresh_token"]) for answer in answers}) == 1
        assert apple.calls("token") == before + 1


@pytest.mark.parametrize("how", [
    dict(mode="error", status=503), dict(mode="error", status=500), dict(mode="slow", delay_ms=20_000)],
    ids=["unavailable", "broken", "slow"])
def test_apples_token_endpoint_down(phone, apple, how):
    """A clear answer in time. The code was not spent, so it is good once Apple is back."""
    app = FoodApp(phone)
    body = app.apple_body()
    with apple.misbehaving("token", **how):
        with Stopwatch() as took:
            answer = app.post("apple", body)
        answer.problem(503, "PROVIDER_UNAVAILABLE")
        assert took.seconds < DEADLINE_SECONDS
        # Others are none the worse for it.
        other = FoodApp(Phone(phone.stack))
        other.post("facebook", other.facebook_body()).expect(200)
    process_table.wait_until(lambda: app.post("apple", body).status == 200, 30, "the session that the code buys")
    assert app.session["suggested_display_name"] == phone.person.name


@pytest.mark.parametrize("provider, endpoint", [
    ("facebook", "debug_token"), ("facebook", "me"), ("google", "tokeninfo"), ("google", "userinfo")])
@pytest.mark.parametrize("how", [dict(mode="error", status=503), dict(mode="slow", delay_ms=20_000)], ids=["down", "slow"])
def test_whom_an_access_token_belongs_to_cannot_be_asked(phone, request, provider, endpoint, how):
    app = FoodApp(phone)
    body = app.body_of[provider]()
    with request.getfixturevalue(provider).misbehaving(endpoint, **how):
        with Stopwatch() as took:
            answer = app.post(provider, body)
        answer.problem(503, "PROVIDER_UNAVAILABLE")
        assert took.seconds < DEADLINE_SECONDS
    process_table.wait_until(lambda: app.post(provider, body).status == 200, 30, "a session")


def test_codes_that_buy_nothing(phone):
    app = FoodApp(phone)
    unknown = {"authorization_code": "c0ffee.0.rrtq.unknown", "client_id": STORE_APP}
    app.post("apple", unknown).problem(401, "CODE_SPENT")
    # Issued to the other App ID: Apple refuses it for this one.
    other = FoodApp(phone, DEBUG_APP).apple_body()
    app.post("apple", other | {"client_id": STORE_APP}).problem(401, "CODE_SPENT")
    # No App ID of ours, or none at all.
    app.post("apple", app.apple_body() | {"client_id": "com.example.other"}).problem(
        422, "CLIENT_UNKNOWN", [("client_id", "CLIENT_UNKNOWN")])
    assert app.post("apple", {"authorization_code": "code", "client_id": None}).status in (400, 422)
    assert app.session is None


def test_a_code_of_somebody_else_beside_the_token(phone, new_phone):
    """What proves the ID token must be the same person's."""
    app = FoodApp(phone, DEBUG_APP)
    token = phone.apple(DEBUG_APP, omit=["c_hash"]).identity_token
    code = new_phone().apple(DEBUG_APP).authorization_code
    app.post("apple", {"identity_token": token, "authorization_code": code}).problem(401, "CODE_FOREIGN")
    # With the hash in the token it needs no exchange to be seen.
    token = phone.apple(DEBUG_APP).identity_token
    code = new_phone().apple(DEBUG_APP).authorization_code
    app.post("apple", {"identity_token": token, "authorization_code": code}).problem(401, "TOKEN_CODE_HASH")


def test_an_id_token_without_the_code_that_would_prove_it(phone):
    app = FoodApp(phone, DEBUG_APP)
    app.post("apple", {"identity_token": phone.apple(DEBUG_APP).identity_token}).problem(401, "CODE_REQUIRED")


def test_access_tokens_of_other_apps(phone):
    """A token that a game was given must not open an account here: that is how accounts were stolen elsewhere."""
    app = FoodApp(phone)
    # Facebook tells us no more than that it isn't ours to ask about.
    app.post("facebook", app.facebook_body("9999999999")).problem(401, "ACCESS_TOKEN_FOREIGN")
    app.post("google", app.google_body("evil.apps.googleusercontent.com")).problem(401, "ACCESS_TOKEN_FOREIGN")
    for provider, client_id in (("facebook", "9999999999"), ("google", "evil.apps.googleusercontent.com")):
        app.post(provider, app.body_of[provider]() | {"client_id": client_id}).problem(
            422, "CLIENT_UNKNOWN", [("client_id", "CLIENT_UNKNOWN")])
    assert app.session is None


def test_access_tokens_that_are_none(phone):
    app = FoodApp(phone)
    for provider, client_id in (("facebook", FACEBOOK), ("google", GOOGLE_IOS)):
        app.post(provider, {"access_token": "no-token", "client_id": client_id}).problem(401, "PROVIDER_TOKEN_INVALID")
    # An access token of Google's is none of Facebook's.
    app.post("facebook", app.google_body() | {"client_id": FACEBOOK}).problem(401, "PROVIDER_TOKEN_INVALID")


def test_apple_has_no_access_tokens(phone):
    answer = FoodApp(phone).post("apple", {"access_token": "a1b2c3", "client_id": STORE_APP})
    assert answer.status in (400, 401, 422), answer.content


def test_nothing_to_sign_in_with(phone):
    app = FoodApp(phone)
    for body in ({}, {"client_id": STORE_APP}, {"authorization_code": None, "client_id": STORE_APP}, {"create": False}):
        app.post("apple", body).problem(400, "REQUEST_INVALID", [("identity_token", "REQUIRED")])


def test_an_audience_with_the_stores_key(phone):
    """App IDs may share a key: `com.example.bare` has the store app's."""
    app = FoodApp(phone, BARE)
    assert app.sign_in()["is_new_user"] is True


def test_apple_down_at_the_first_sign_in(parts, without_keys):
    """The exchange went well, but there are no keys to judge its answer with: name and code are good later."""
    app = FoodApp(Phone(parts.stack))
    body = app.apple_body()
    bring_back = without_keys("apple")
    app.post("apple", body).problem(503, "PROVIDER_UNAVAILABLE")
    told, app.keychain = app.keychain, {}
    assert told["full_name"] == app.phone.person.name
    bring_back()
    process_table.wait_until(lambda: app.post("apple", body).status == 200, 40, "the session that the code buys")
    assert app.session["suggested_display_name"] == app.phone.person.name
