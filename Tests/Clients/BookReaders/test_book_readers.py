"""The book readers' nine answers, member by member, and what the token is good for."""

import concurrent.futures
import http.client

import pytest

import process_table
import tokens
from book_reader import BASE, SUCCESS, SUCCESS_MEMBERS, BookReader
from elapsed import credentials_older_by_two_minutes, session_unused_for, single_token_that_ends
from phone import Phone
from shapes import expect_shape

DAY = 86_400
NOT_FOUND = (404, "user_not_found", "No account found with this Apple ID. Please register first.")
MISSING = (400, "invalid_request", "Missing required fields")
BAD_USERNAME = (400, "invalid_username", "Username can only contain letters, numbers, and underscores")


def expect_success(reader, answer, message):
    body = answer.expect(200)
    assert set(body) == SUCCESS_MEMBERS
    expect_shape(body, SUCCESS)
    assert body["success"] is True and body["message"] == message
    assert body["username"] == reader.username and body["email"] == reader.phone.person.email
    assert body["display_name"] == reader.phone.person.name
    return body


# login: 200, 400, 404

def test_login(reader):
    registered = expect_success(reader, reader.register(), "Registration successful")
    reader.ask_apple()
    body = expect_success(reader, reader.login(), "Login successful")
    assert body["user_id"] == registered["user_id"] > 0
    assert body["token"] != registered["token"], "a session of its own"


def test_login_without_apples_id(reader):
    for body in ({}, {"appleUserID": ""}, {"appleUserID": None}, {"identityToken": reader.identity_token}):
        reader.expect_failure(reader.post("login", body), 400, "invalid_request", "Missing Apple User ID")


def test_login_of_somebody_new(reader, stack):
    accounts = stack.sql("SELECT count(*) FROM identity.accounts;")
    reader.expect_failure(reader.login(), *NOT_FOUND)
    assert stack.sql("SELECT count(*) FROM identity.accounts;") == accounts
    # The same identity token registers them.
    assert reader.register().status == 200


# register: 200, 400, 400, 409, 409, 409

def test_register(reader):
    expect_success(reader, reader.register(), "Registration successful")


@pytest.mark.parametrize("how", ["absent", "null", "empty"])
def test_register_without_a_name(reader, how):
    """`fullName` is optional; the app shows the username then."""
    body = {name: value for name, value in reader.register_body().items() if name != "fullName"}
    body |= {"absent": {}, "null": {"fullName": None}, "empty": {"fullName": ""}}[how]
    assert reader.post("register", body).expect(200)["display_name"] in ("", reader.username)


@pytest.mark.parametrize("missing", ["appleUserID", "email", "username"])
@pytest.mark.parametrize("how", ["absent", "null", "empty"])
def test_register_without_a_required_field(reader, missing, how):
    body = reader.register_body()
    if how == "absent":
        del body[missing]
    else:
        body[missing] = None if how == "null" else ""
    reader.expect_failure(reader.post("register", body), *MISSING)


@pytest.mark.parametrize("username", ["ab", "x" * 21])
def test_register_with_a_username_of_another_length(reader, username):
    reader.expect_failure(
        reader.register(username=username), 400, "invalid_username", "Username must be 3 to 20 characters long")
    assert reader.register().status == 200


@pytest.mark.parametrize("username", ["two words", "dash-ed", "näme", "a.b.c", "a!", "emoji😀"])
def test_register_with_a_username_that_cannot_be_one(reader, username):
    reader.expect_failure(reader.register(username=username), *BAD_USERNAME)
    # Nothing is left of it.
    assert reader.register().status == 200


def test_register_with_a_taken_username(reader, new_reader):
    reader.register().expect(200)
    other = new_reader()
    for username in (reader.username, reader.username.upper()):
        other.expect_failure(other.register(username=username), 409, "username_exists", "Username already exists")
    assert other.register().status == 200


def test_register_with_a_taken_email(reader, new_reader):
    reader.register().expect(200)
    other = new_reader()
    for email in (reader.phone.person.email, reader.phone.person.email.upper()):
        other.expect_failure(
            other.register(email=email), 409, "email_exists", "An account with this email already exists")
    assert other.register().status == 200


def test_an_address_that_apple_verified_beats_one_that_was_said(reader, new_reader):
    squatter = new_reader()
    address = reader.phone.person.email
    squatter.register(email=address).expect(200)
    me = squatter.get("/wp-json/wp/v2/users/me").expect(200)
    assert (me["email"], me["email_verified"]) == (address, False)
    reader.register().expect(200)
    me = reader.get("/wp-json/wp/v2/users/me").expect(200)
    assert (me["email"], me["email_verified"]) == (address, True)
    me = squatter.get("/wp-json/wp/v2/users/me").expect(200)
    assert (me["email"], me["email_verified"]) == (squatter.phone.person.email, True)
    squatter.ask_apple()
    assert squatter.login().expect(200)["email"] == squatter.phone.person.email


def test_addresses_are_not_probed(reader, new_reader):
    """A user may ask twenty times per hour whether an address is registered."""
    reader.register().expect(200)
    prober = new_reader()
    answers = [prober.register(email=reader.phone.person.email) for _ in range(25)]
    assert [answer.status for answer in answers] == [409] * 20 + [429] * 5
    assert answers[-1].json["code"] == "rate_limited" and answers[-1].json["data"] == {"status": 429}
    # The quota is the person's, and nobody else's.
    assert new_reader().register().status == 200


def test_register_twice(reader):
    reader.register().expect(200)
    reader.ask_apple()
    credentials_older_by_two_minutes(reader.phone.stack)
    reader.expect_failure(
        reader.register(username=f"{reader.username}2", email=f"2{reader.phone.person.email}"),
        409, "apple_id_exists", "This Apple ID is already registered")


# The token and the number

def test_the_number_is_stable_and_a_whole_number(reader, stack):
    first = reader.register().expect(200)
    for _ in range(3):
        reader.ask_apple()
        again = reader.login().expect(200)
        assert again["user_id"] == first["user_id"]
    assert b'"user_id":%d' % first["user_id"] in reader.login().content.replace(b" ", b"")
    subject = tokens.parts(first["token"])[1]["sub"]
    assert stack.sql(f"SELECT number FROM identity.accounts WHERE user_id = '{subject}';") == str(first["user_id"])


def test_two_readers_have_two_numbers(new_reader):
    assert len({new_reader().register().expect(200)["user_id"] for _ in range(3)}) == 3


def test_the_token_lives_as_long_as_the_session_may(reader, stack):
    reader.register().expect(200)
    header, claims = tokens.parts(reader.token)
    assert (header["typ"], claims["aud"]) == ("vst+jwt", "vestibule-single-token")
    # The app has no refresh: half a year, which is a session's end whatever happens.
    assert 179 * DAY < claims["exp"] - claims["iat"] <= 180 * DAY
    assert reader.get("/me").expect(200)["user_id"] == claims["sub"]
    session_unused_for(stack, claims["sid"], days=29)
    reader.get("/me").expect(200)


def test_a_nonce_of_wordpress_is_ignored(reader):
    reader.register().expect(200)
    gateway = reader.phone.gateway
    for nonce in ("", "0123456789", reader.token[::-1]):
        gateway.get("/me", token=reader.token, headers={"X-WP-Nonce": nonce}).expect(200)
    assert gateway.get("/me", headers={"X-WP-Nonce": reader.token}).status == 401


def test_the_session_ends_with_a_sign_out_or_for_inactivity(reader, stack):
    reader.register().expect(200)
    session_unused_for(stack, tokens.parts(reader.token)[1]["sid"], days=31)
    assert reader.get("/me").status == 401
    reader.ask_apple()
    reader.login().expect(200)
    reader.phone.gateway.post("/auth/sign-out", token=reader.token).expect(204)
    assert reader.get("/me").status == 401
    expired = single_token_that_ends(stack, reader.token, -60)
    assert reader.phone.gateway.get("/me", token=expired).status == 401


# The unlucky half

def test_without_a_proof(reader):
    """The original backend accepted anyone who knew an Apple user id; this one doesn't."""
    reader.register().expect(200)
    for action, body in (("login", reader.login_body()), ("register", reader.register_body())):
        for unproven in (None, "", "x.y.z"):
            answer = reader.post(action, body | {"identityToken": unproven})
            assert (answer.status, answer.json["code"]) == (401, "invalid_token"), answer.content
            assert answer.json["message"] and answer.json["data"] == {"status": 401}
    del body["identityToken"]
    assert reader.post("login", body).status == 401


REFUSED = {
    "expired": dict(issued_in=-200_000, expires_in=3600),
    "older than ten minutes": dict(issued_in=-900),
    "another app's": dict(audience="com.example.other"),
    "another issuer's": dict(issuer="https://appleid.apple.com.evil.example"),
    "unsigned": dict(algorithm="none"),
    "signed by a stranger": dict(signing_key="foreign"),
    "with a nonce that nobody proves": dict(claims={"nonce": "of-somebody-else"}),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_identity_tokens_that_are_refused(reader, fault):
    reader.ask_apple(**REFUSED[fault])
    for answer in (reader.login(), reader.register()):
        assert (answer.status, answer.json["code"]) == (401, "invalid_token"), answer.content
    reader.ask_apple()
    assert reader.enter().status == 200


def test_a_token_of_somebody_else(reader, new_reader):
    """Who has a token of their own cannot enter as another, whose id they know."""
    reader.register().expect(200)
    thief = new_reader()
    body = thief.login_body() | {"appleUserID": reader.apple_id}
    answer = thief.post("login", body)
    assert (answer.status, answer.json["code"]) == (401, "invalid_token"), answer.content
    answer = thief.post("register", thief.register_body(appleUserID=reader.apple_id))
    assert (answer.status, answer.json["code"]) == (401, "invalid_token"), answer.content


@pytest.mark.parametrize("part", [0.0, 0.5], ids=["nothing came", "half of it came"])
def test_a_lost_answer_to_a_registration(new_phone, decoder, bad_network, stack, part):
    """The reader taps again: `login` first, which finds the account that the lost answer told of."""
    phone = new_phone()
    network = bad_network(phone)
    reader = BookReader(phone, decoder, address=network.address)
    reader.ask_apple()
    network.lose_next(1, part)
    with pytest.raises((OSError, http.client.HTTPException)):
        reader.register()
    body = expect_success(reader, reader.login(), "Login successful")
    assert body["user_id"] > 0
    assert stack.sql(f"SELECT count(*) FROM identity.email_reservations WHERE email = '{phone.person.email}';") == "1"


def test_two_readers_want_one_username_at_the_same_moment(new_reader):
    readers = [new_reader() for _ in range(4)]
    wanted = readers[0].username
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda each: each.register(username=wanted), readers))
    assert sorted(answer.status for answer in answers) == [200, 409, 409, 409]
    # The others can have another one.
    for number, (reader, answer) in enumerate(zip(readers, answers)):
        if answer.status == 409:
            assert answer.json["code"] == "username_exists"
            assert reader.register(username=f"{wanted}_{number}").status == 200


def test_bodies_that_make_no_sense(reader):
    gateway = reader.phone.gateway
    for content in (b"", b"[]", b"{", b'{"appleUserID": 7}'):
        answer = gateway.send("POST", f"{BASE}/auth/apple/login", body=content, headers={"Content-Type": "application/json"})
        assert answer.status == 400 and set(answer.json) == {"code", "message", "data"}, answer.content


def test_apple_down(parts, without_keys, decoder):
    reader = BookReader(Phone(parts.stack), decoder)
    reader.ask_apple()
    bring_back = without_keys("apple")
    answer = reader.register()
    assert answer.status == 503 and set(answer.json) == {"code", "message", "data"}, answer.content
    assert answer.json["data"] == {"status": 503}
    bring_back()
    process_table.wait_until(lambda: reader.register().status == 200, 60, "a registration")
