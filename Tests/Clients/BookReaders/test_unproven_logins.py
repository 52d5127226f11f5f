"""An operator who keeps letting readers in as the app stood, by Apple's user id alone: what that opens, and when it ends."""

import pytest

import process_table
from book_reader import BookReader
from phone import APP, Phone


# Where WordPress itself says whose a token is.
ME = "/wp-json/wp/v2/users/me"


@pytest.fixture
def stack(parts):
    """The stack whose operator allows it."""
    parts.expect_back()
    return parts.stack


@pytest.fixture
def unproven(stack, decoder):
    """A reader with the app as it stood: it has Apple's id, and shows no token."""
    reader = BookReader(Phone(stack), decoder)
    reader.apple_id = Phone(stack, reader.phone.person).apple(APP).user
    return reader


def proven_sign_in(reader):
    """The same person in an app that proves who they are, by our own route."""
    phone = Phone(reader.phone.stack, reader.phone.person)
    credential, raw = phone.apple_with_nonce()
    session = phone.gateway.post(
        "/auth/apple", {"identity_token": credential.identity_token, "nonce": raw}).expect(200)
    phone.keep_secret(session["access_token"], session["refresh_token"], session["id_token"])
    return session


def test_it_is_told_at_every_start(parts):
    def warnings():
        return [
            line for text in parts.stack.logs().values() for line in text.splitlines()
            if "warning" in line.lower() and "unproven" in line.lower()]

    before = len(warnings())
    assert before > 0
    parts.restart("identity")
    process_table.wait_until(lambda: len(warnings()) > before, 60, "the warning of the next start")
    parts.expect_back()


def test_registered_and_let_in_by_an_id_alone(unproven):
    unproven.expect_failure(
        unproven.login(), 404, "user_not_found", "No account found with this Apple ID. Please register first.")
    registered = unproven.register().expect(200)
    assert registered["username"] == unproven.username
    again = unproven.login().expect(200)
    assert again["user_id"] == registered["user_id"]
    unproven.expect_failure(
        unproven.register(username=f"{unproven.username}2", email=f"2{unproven.phone.person.email}"),
        409, "apple_id_exists", "This Apple ID is already registered")


def test_its_token_is_good_there_only(unproven, stack):
    registered = unproven.register().expect(200)
    gateway = unproven.phone.gateway
    assert unproven.get(ME).expect(200)["id"] == registered["user_id"]
    gateway.get("/me", token=unproven.token).problem(401, "SESSION_UNPROVEN")
    gateway.get("/groups", token=unproven.token).problem(401, "SESSION_UNPROVEN")
    assert gateway.patch("/me", {"display_name": "Another Name"}, token=unproven.token).status == 401
    assert gateway.post("/api/auth/refresh", token=unproven.token).status == 401
    assert gateway.get("/auth/v1/user", token=unproven.token).status in (401, 403)


def test_the_first_proven_sign_in_ends_it_for_good(unproven, stack):
    registered = unproven.register().expect(200)
    before = unproven.token
    session = proven_sign_in(unproven)
    # It is the person's account from now on, and nobody's who only knows the id.
    for answer in (unproven.login(), unproven.login()):
        assert (answer.status, answer.json["code"]) == (401, "invalid_token"), answer.content
    for path in (ME, "/me"):
        assert unproven.phone.gateway.get(path, token=before).status == 401
    unproven.phone.gateway.get("/me", token=session["access_token"]).expect(200)
    # With a token the reader is let in, under the same number.
    unproven.ask_apple()
    again = unproven.login().expect(200)
    assert again["user_id"] == registered["user_id"]
    unproven.get("/me").expect(200)


def test_accounts_that_were_proven_from_the_start_stay_closed(unproven):
    proven_sign_in(unproven)
    answer = unproven.login()
    assert (answer.status, answer.json["code"]) == (401, "invalid_token"), answer.content
    answer = unproven.register()
    assert answer.status in (401, 409) and not answer.json.get("token"), answer.content


def test_a_bad_token_is_not_as_good_as_none(unproven):
    """Who shows a token is judged by it."""
    unproven.identity_token = "x.y.z"
    for answer in (unproven.login(), unproven.register()):
        assert (answer.status, answer.json["code"]) == (401, "invalid_token"), answer.content
