"""The bill splitter's story: sign-in, profile set-up, the groups that waited for the number, three ways to sign out."""

import secrets
import time

import pytest
from supabase_auth.errors import AuthApiError

from app import App
from bill_splitter import ANON_KEY, SESSION, USER
from phone import BARE, Phone
from shapes import expect_shape

PHONE_TAKEN = "This phone number is already associated with another account."


def test_sign_in(app):
    session = app.sign_in()
    assert session.user.email == app.phone.person.email
    assert session.token_type == "bearer" and session.user.aud == session.user.role == "authenticated"
    assert abs(session.expires_at - time.time() - session.expires_in) < 60
    assert session.user.app_metadata["provider"] == "apple"
    (identity,) = session.user.identities
    assert (identity.provider, identity.user_id) == ("apple", session.user.id)
    # A second sign-in is the same person in a session of its own.
    again = app.sign_in()
    assert again.user.id == session.user.id and again.refresh_token != session.refresh_token


def test_bodies_member_by_member(phone):
    """What the app sends in TypeScript, without the Python client between, and the types of what it reads."""
    credential, headers = phone.apple(BARE), {"apikey": ANON_KEY}
    session = phone.gateway.post(
        "/auth/v1/token?grant_type=id_token", {"provider": "apple", "id_token": credential.identity_token},
        headers=headers).expect(200)
    phone.keep_secret(session["access_token"], session["refresh_token"])
    expect_shape(session, SESSION)
    token = session["access_token"]
    refreshed = phone.gateway.post(
        "/auth/v1/token?grant_type=refresh_token", {"refresh_token": session["refresh_token"]},
        headers=headers).expect(200)
    phone.keep_secret(refreshed["access_token"], refreshed["refresh_token"])
    expect_shape(refreshed, SESSION)
    assert refreshed["user"]["id"] == session["user"]["id"]
    assert refreshed["refresh_token"] != session["refresh_token"]

    data = {"full_name": phone.person.name, "given_name": phone.person.given_name, "family_name": phone.person.family_name}
    user = phone.gateway.send("PUT", "/auth/v1/user", {"data": data}, token=token, headers=headers).expect(200)
    expect_shape(user, USER)
    assert user["user_metadata"] == user["user_metadata"] | data
    user = phone.gateway.get("/auth/v1/user", token=token, headers=headers).expect(200)
    expect_shape(user, USER)
    assert user["user_metadata"]["full_name"] == phone.person.name

    answer = phone.gateway.post("/auth/v1/logout?scope=local", token=token, headers=headers)
    assert (answer.status, answer.content) == (204, b"")


def test_a_provider_is_linked(phone):
    """`linkIdentity({provider, token, nonce})` of newer clients, as TypeScript sends it: the account stays the same one."""
    credential, nonce = phone.apple_with_nonce()
    raw = secrets.token_hex(16)
    google = phone.google(nonce=raw)
    phone.keep_secret(raw)

    def ask(body, token=ANON_KEY):
        answer = phone.gateway.post(
            "/auth/v1/token?grant_type=id_token", body, token=token, headers={"apikey": ANON_KEY})
        if answer.status == 200:
            phone.keep_secret(answer.json["access_token"], answer.json["refresh_token"])
        return answer

    session = ask({
        "provider": "apple", "id_token": credential.identity_token, "nonce": nonce,
        "authorization_code": credential.authorization_code}).expect(200)
    body = {
        "provider": "google", "id_token": google["id_token"], "nonce": raw, "access_token": google["access_token"],
        "link_identity": True, "gotrue_meta_security": {"captcha_token": None}}
    # Before there is a session the client sends the app's key: nobody is signed in instead.
    for token, status, code in ((ANON_KEY, 403, "bad_jwt"), (None, 401, "no_authorization")):
        refused = ask(body, token)
        assert (refused.status, refused.json["error_code"]) == (status, code), refused.content
    linked = ask(body, session["access_token"]).expect(200)
    expect_shape(linked, SESSION)
    assert linked["user"]["id"] == session["user"]["id"]
    assert {each["provider"] for each in linked["user"]["identities"]} == {"apple", "google"}
    # Both sessions go on, and both providers open the account.
    refreshed = phone.gateway.post(
        "/auth/v1/token?grant_type=refresh_token", {"refresh_token": linked["refresh_token"]}).expect(200)
    phone.keep_secret(refreshed["access_token"], refreshed["refresh_token"])
    assert phone.gateway.get("/auth/v1/user", token=session["access_token"]).expect(200)["id"] == session["user"]["id"]
    again = ask({"provider": "google", "id_token": phone.google()["id_token"]}).expect(200)
    assert again["user"]["id"] == session["user"]["id"]


def test_session_and_refresh(app):
    first = app.sign_in()
    assert app.session == first
    refreshed = app.keep(app.auth.refresh_session().session)
    assert refreshed.refresh_token != first.refresh_token and refreshed.user.id == first.user.id
    assert app.session.access_token == refreshed.access_token
    assert app.auth.get_user().user.id == first.user.id
    # A restored app has both tokens and nothing else.
    restored = app.auth.set_session(refreshed.access_token, refreshed.refresh_token)
    assert restored.user.id == first.user.id


def test_user_data(app):
    app.sign_in()
    person = app.phone.person
    names = {"full_name": person.name, "given_name": person.given_name, "family_name": person.family_name}
    assert app.auth.update_user({"data": names}).user.user_metadata.items() >= names.items()
    # Member by member: what isn't told stays, null removes.
    metadata = app.auth.update_user({"data": {"full_name": person.name[::-1], "given_name": None}}).user.user_metadata
    assert metadata["full_name"] == person.name[::-1] and metadata["family_name"] == person.family_name
    assert metadata.get("given_name") is None
    assert app.auth.get_user().user.user_metadata == metadata


def test_profile_set_up_and_the_groups_that_waited(app, new_phone):
    """The account was made earlier, without a phone; saving the number links the memberships that wait for it."""
    host = App(app.phone.stack)
    host.sign_in()
    group = host.create_group()
    app.sign_in()
    assert app.needs_profile
    host.invite(app.phone.person, group)
    assert [each["state"] for each in host.members(group)].count("pending") == 1

    assert app.offered_name == app.phone.person.name
    user = app.save_profile()
    assert user.phone.removeprefix("+") == f"63{app.phone.person.digits}"
    assert not app.needs_profile
    app.wait_for_group(group)
    # On another phone of the same person there is nothing to set up.
    assert app.auth.get_user().user.user_metadata["full_name"] == app.phone.person.name


def test_that_the_number_is_typed_and_not_proven_is_not_felt(app, new_phone):
    """The user who makes a group adds others by numbers that aren't proven here; they are members, and see the other members."""
    host, late = App(app.phone.stack), new_phone()
    host.sign_in()
    host.complete()
    group = host.create_group()
    app.sign_in()
    host.invite(app.phone.person, group)
    app.save_profile()
    app.wait_for_group(group)
    host.invite(late.person, group)
    token = app.session.access_token

    def read(path):
        return app.phone.gateway.get(path, token=token).expect(200)

    assert read(f"/groups/{group}")["role"] == "member" and [each["id"] for each in read("/groups")["groups"]] == [group]
    people = read(f"/groups/{group}/members")["members"]
    assert [each["state"] for each in people] == ["member", "member", "pending"]
    assert [each["display_name"] for each in people] == [host.person.name, app.phone.person.name, late.person.name]
    # The only difference, beside that others' numbers are none of theirs: the mark, which the app doesn't read.
    assert [each["unproven"] for each in people] == [False, True, False]
    assert [each["phone_number"] for each in people] == [None, f"+63{app.phone.person.digits}", None]
    # Groups of their own are theirs whole.
    own = app.phone.gateway.post("/groups", {"name": "Own"}, token=token).expect(201)["id"]
    person = {"phone_number": late.person.phone, "display_name": "李"}
    assert app.phone.gateway.post(f"/groups/{own}/members", person, token=token).expect(201)["state"] == "pending"
    app.phone.gateway.post(f"/groups/{group}/leave", token=token).expect(204)


def test_the_phone_saved_through_our_own_route(app):
    session = app.sign_in()
    host = App(app.phone.stack)
    host.sign_in()
    group = host.create_group()
    host.invite(app.phone.person, group)
    change = {"display_name": app.phone.person.name, "phone_number": app.phone.person.phone}
    app.phone.gateway.patch("/me", change, token=session.access_token).expect(200)
    app.wait_for_group(group)
    assert app.auth.get_user().user.phone.removeprefix("+") == f"63{app.phone.person.digits}"


def test_a_taken_phone(app, new_app, new_phone):
    other = new_app(new_phone())
    other.sign_in()
    other.save_profile()
    session = app.sign_in()
    with pytest.raises(AuthApiError) as raised:
        app.save_profile(other.phone.person.digits)
    assert (raised.value.message, raised.value.status, raised.value.code) == (PHONE_TAKEN, 422, "phone_exists")
    problem = app.phone.gateway.patch(
        "/me", {"phone_number": other.phone.person.phone}, token=session.access_token).problem(
            409, "PHONE_TAKEN", [("phone_number", "PHONE_TAKEN")])
    assert problem["detail"] == PHONE_TAKEN
    # Nothing of it was saved, and the right number can be.
    assert not app.auth.get_user().user.phone
    assert app.save_profile().phone


@pytest.fixture
def three_sessions(app, new_app):
    """One person's app on three phones."""
    apps = [app, new_app(Phone(app.phone.stack, app.phone.person)), new_app(Phone(app.phone.stack, app.phone.person))]
    return [(each, each.sign_in()) for each in apps]


def is_alive(app, session):
    """Whether a session can be used and refreshed; refreshing goes last, since it makes new tokens."""
    try:
        assert app.auth.get_user(session.access_token).user.id == session.user.id
    except AuthApiError as error:
        assert (error.status, error.code) == (403, "session_not_found")
        with pytest.raises(AuthApiError):
            app.auth.refresh_session(session.refresh_token)
        return False
    return True


@pytest.mark.parametrize("scope, alive", [
    ("local", [False, True, True]), ("others", [True, False, False]), ("global", [False, False, False])])
def test_scopes_of_signing_out(three_sessions, scope, alive):
    app = three_sessions[0][0]
    app.auth.sign_out({"scope": scope})
    assert [is_alive(*each) for each in three_sessions] == alive
    assert (app.session is None) == (scope != "others")
    # Twice is no error.
    app.auth.sign_out({"scope": scope})


def test_keys_of_an_administrator(app, new_app, stack):
    """The service key is in the file that `make run` prints; a client without it is not an administrator."""
    session = app.sign_in()
    assert [line for line in stack.output.splitlines() if "supabase-service-key" in line], stack.output
    key = (stack.folder / "secrets/supabase-service-key").read_text().strip()
    stack.confidential.add(key)
    assert key not in stack.output
    admin = new_app(app.phone, key=key).auth.admin
    assert admin.get_user_by_id(session.user.id).user.email == app.phone.person.email
    # An account that is kept as deleted is none that is deleted.
    with pytest.raises(AuthApiError) as raised:
        admin.delete_user(session.user.id, should_soft_delete=True)
    assert raised.value.status == 422
    assert admin.get_user_by_id(session.user.id).user.id == session.user.id
    for wrong in (session.access_token, ANON_KEY, key[:-1], key + "x"):
        with pytest.raises(AuthApiError) as raised:
            new_app(app.phone, key=wrong).auth.admin.get_user_by_id(session.user.id)
        assert raised.value.status in (401, 403)
    with pytest.raises(AuthApiError):
        app.auth.admin.get_user_by_id(session.user.id)
    # Nor is the key anybody's session.
    assert app.phone.gateway.get("/auth/v1/user", token=key).status in (401, 403)
    assert app.phone.gateway.get("/me", token=key).status == 401
    # Deleted whole, and once is enough.
    for _ in range(2):
        admin.delete_user(session.user.id)
    with pytest.raises(AuthApiError) as raised:
        admin.get_user_by_id(session.user.id)
    assert raised.value.status == 404 and raised.value.code == "user_not_found"
    with pytest.raises(AuthApiError):
        app.auth.refresh_session()
