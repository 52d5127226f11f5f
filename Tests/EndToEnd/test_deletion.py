"""An account is deleted in all services, and no personal data is left in the database."""

import datetime
import json
import os
import pathlib
import signal
import subprocess
import time
import uuid

import pytest

import process_table
import tokens
from account_command import account, is_forgotten, trace
from app import GOOGLE_CLIENT, App, letters
from app_clients import WAYS, client_of
from stack import new_stack

# Where the id of a closed account may remain: the audit log, the record of the closing, and records that keep it from returning.
MAY_NAME_THE_ACCOUNT = {"identity.security_events", "identity.account_closings", "identity.work", "profile.closed_accounts",
                        "invites.closed_accounts"}


def dump(stack):
    """The rows of all tables, by schema and table, as `pg_dump` writes them."""
    environment = process_table.environment(stack.process_of("identity"))
    result = subprocess.run(
        ["pg_dump", "--data-only", f"--host={environment['VESTIBULE_DATABASE_HOST']}",
         f"--port={environment['VESTIBULE_DATABASE_PORT']}", "--username=postgres", "--no-password",
         f"--dbname={environment['VESTIBULE_DATABASE_NAME']}"], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    tables, name = {}, None
    for line in result.stdout.splitlines():
        if line.startswith("COPY "):
            name = line.split(" ")[1]
            tables[name] = ""
        elif line == "\\.":
            name = None
        elif name:
            tables[name] += line + "\n"
    assert len(tables) > 20
    return tables


@pytest.fixture
def whole(new_app):
    """A user with data everywhere."""
    app = new_app()
    app.sign_in()
    app.save(display_name=app.person.name, phone_number=app.person.phone, username=letters(12)).expect(200)
    app.device_name = f"Phone {letters(12)}"
    app.gateway.patch(f"/auth/sessions/{app.session['session_id']}", {"device_name": app.device_name},
                      token=app.access_token).expect(200)
    picture = (pathlib.Path(__file__).resolve().parents[1] / "ImagesTests/Files/rgb.png").read_bytes()
    app.gateway.send(
        "PUT", "/me/avatar", token=app.access_token, body=picture, headers={"Content-Type": "image/png"}).expect(200)
    app.get(f"/usernames/{letters(12)}").expect(200)
    app.create_group()
    return app


def test_no_personal_data_is_left(stack, new_app, whole):
    other = new_app()
    other.sign_in()
    other.complete()
    shared = other.create_group()
    other.post(f"/groups/{shared}/members", {
        "phone_number": whole.person.phone, "display_name": whole.person.name}).expect(201)
    process_table.wait_until(
        lambda: any(group["id"] == shared for group in whole.get("/groups").expect(200)["groups"]), 15, "the link")
    # Also a user who asks to join, made a link, blocks another and is blocked.
    asked = other.post("/groups", {"name": "Lunch", "openness": "confirm"}).expect(201)["id"]
    link = other.post(f"/groups/{asked}/links", {}).expect(201)["token"]
    whole.post("/groups/links/join", {"token": link}).expect(200)
    (own,) = [group["id"] for group in whole.get("/groups").expect(200)["groups"] if group["id"] != shared]
    whole.post(f"/groups/{own}/links", {}).expect(201)
    whole.gateway.send("PUT", f"/me/blocked-inviters/{other.user_id}", token=whole.access_token).expect(204)
    other.gateway.send("PUT", f"/me/blocked-inviters/{whole.user_id}", token=other.access_token).expect(204)
    subject = tokens.parts(whole.ask_apple()["identity_token"])[1]["sub"]
    before = trace(stack, whole.user_id)
    assert before["identity"]["held"]["accounts"] == 1 and before["invites"]["held"]["members"] == 2
    assert [before["profile"]["held"][name] for name in ("phones", "avatars", "quotas")] == [1, 1, 2]
    assert all(before["invites"]["held"][name] == 1 for name in (
        "join_requests", "group_links", "blocked_inviters", "blocked_by"))
    # One link by which they asked, and one that they made, which can't be their own way in.
    assert before["invites"]["held"]["group_link_uses"] == 2
    # No webhook target is configured.
    assert all(before[name]["held"]["events"] == 0 for name in ("profile", "invites"))
    whole_profile = whole.get("/me").expect(200)
    secrets = {
        whole.person.email, whole.person.digits, whole.person.given_name, whole_profile["username"], whole.device_name,
        subject, whole.session["session_id"], whole_profile["avatar_url"].rpartition("/")[2]}
    rows = dump(stack)
    for secret in secrets:
        assert any(secret in text for text in rows.values()), "the search finds existing data"

    whole.delete()
    process_table.wait_until(lambda: is_forgotten(stack, whole.user_id), 15, "the end of all that is left")
    # Invites applies profile's release later.
    process_table.wait_until(
        lambda: whole.person.digits not in "".join(dump(stack).values()), 15, "the number to be deleted")
    # Records of ended sessions remain internally, until no token of them looks valid.
    kept = {whole.session["session_id"]: {"identity.revocations", "identity.security_events", "identity.sign_ins"}}
    for table, text in dump(stack).items():
        for secret in secrets:
            assert secret not in text or table in kept.get(secret, set()), f"{secret} in {table}"
        assert whole.user_id not in text or table in MAY_NAME_THE_ACCOUNT, table
    members = other.get(f"/groups/{shared}/members").expect(200)["members"]
    assert len(members) == 1
    held = stack.sql(
        f"SELECT why, profile_done_at IS NOT NULL, invites_done_at IS NOT NULL FROM identity.account_closings "
        f"WHERE user_id = '{whole.user_id}'")
    assert held == "deleted|t|t"


def test_an_inviters_contacts_are_deleted_with_their_account(stack, new_app):
    app, other = new_app(), new_app()
    for one in (app, other):
        one.sign_in()
        one.complete()
    contacts = [new_app().person for _ in range(4)]
    group = app.create_group()
    for contact in contacts:
        app.post(f"/groups/{group}/members", {"phone_number": contact.phone, "display_name": contact.name}).expect(201)
    # A contact whom another user invited too stays, under the name given by that user.
    shared = other.create_group()
    other.post(f"/groups/{shared}/members", {"phone_number": contacts[0].phone, "display_name": "Somebody"}).expect(201)
    before = "".join(dump(stack).values())
    assert all(contact.digits in before and contact.name in before for contact in contacts), "the search finds existing data"

    app.delete()
    process_table.wait_until(lambda: is_forgotten(stack, app.user_id), 15, "the end of all that is left")
    rows = dump(stack)
    for table, text in rows.items():
        for contact in contacts:
            assert contact.name not in text, table
        for contact in contacts[1:]:
            assert contact.digits not in text, table
    assert {table for table, text in rows.items() if contacts[0].digits in text} == {"invites.members", "invites.phones"}


def test_the_same_person_is_new_immediately_after(stack, whole):
    user_id = whole.user_id
    number, name = whole.person.phone, whole.get("/me").expect(200)["username"]
    first = whole.delete()
    # A client that lost the answer repeats the request.
    again = whole.delete()
    assert (again.status, again.content) == (first.status, first.content)
    whole.get("/me").problem(401, "SESSION_INVALID")
    whole.gateway.post("/auth/refresh", {"refresh_token": whole.refresh_token}).problem(401, "SESSION_INVALID")
    answer = whole.sign_in()
    assert answer["is_new_user"] and answer["user_id"] != user_id and answer["missing_fields"]
    # The number and the name are free, even before all services have processed the closing.
    whole.save(display_name=whole.person.name, phone_number=number, username=name).expect(200)
    assert whole.get("/groups").expect(200)["groups"] == []
    process_table.wait_until(lambda: is_forgotten(stack, user_id), 15, "the end of the first account")
    assert whole.get("/me").expect(200)["phone_number"] == number


def test_an_old_session_deletes_nothing(stack, app):
    make_old(app)
    app.gateway.send("DELETE", "/me", token=app.access_token).problem(403, "RECENT_SIGN_IN_REQUIRED")
    app.get("/me").expect(200)
    app.sign_in()
    app.delete()


def revocations(stack):
    return stack.simulator.get("/control/counts").expect(200)["apple"]["revoke"]


def make_old(app):
    """Makes the session older than a deletion allows."""
    app.stack.sql(
        "UPDATE identity.sessions SET created_at = created_at - interval '11 minutes' "
        f"WHERE session_id = '{app.session['session_id']}'")


def test_apples_code_in_the_body_deletes_and_withdraws_the_consent(stack, new_app):
    app = new_app()
    # Without a code there is no token to revoke.
    app.present("apple", {name: value for name, value in app.ask_apple().items() if name != "authorization_code"}).expect(200)
    make_old(app)
    app.gateway.send("DELETE", "/me", token=app.access_token).problem(403, "RECENT_SIGN_IN_REQUIRED")
    waiting = "SELECT count(*) FROM identity.provider_grants WHERE state = 'revoking'"
    process_table.wait_until(lambda: stack.sql(waiting) == "0", 30, "the end of what others left to be revoked")
    before = revocations(stack)
    credentials = {"provider": "apple", **app.ask_apple()}
    for _ in range(2):
        # The second request simulates an app that lost the answer.
        assert app.gateway.send("DELETE", "/me", credentials, token=app.access_token).status == 204
    app.get("/me").problem(401, "SESSION_INVALID")
    process_table.wait_until(lambda: revocations(stack) > before, 15, "the revocation")
    process_table.wait_until(lambda: is_forgotten(stack, app.user_id), 15, "the end of all that is left")
    assert revocations(stack) == before + 1
    # Apple treats the person as a new one.
    app.ask_apple()
    assert app.told_user is not None
    # Credentials that deleted the account don't open another one.
    del credentials["provider"]
    app.gateway.post("/auth/apple", credentials).problem(401, "TOKEN_REPLAYED")


def test_credentials_of_another_user_or_without_proof_delete_nothing(stack, app, new_app):
    other = new_app()
    app.gateway.send("DELETE", "/me", {"provider": "apple", **other.ask_apple()}, token=app.access_token).problem(
        403, "CREDENTIALS_FOREIGN")
    token, client = leaked_access_token(app)
    app.gateway.send(
        "DELETE", "/me", {"provider": "google", "access_token": token, "client_id": client}, token=app.access_token).problem(
        403, "PROOF_REQUIRED")
    app.gateway.send("DELETE", "/me", {"authorization_code": "c"}, token=app.access_token).problem(
        400, "REQUEST_INVALID", [("provider", "REQUIRED")])
    app.get("/me").expect(200)


def leaked_access_token(app):
    """An access token of Google's for the person, as any app with their consent gets it, and the client id of that app."""
    answer = app.stack.simulator.post("/control/google/sign-in", {
        "client_id": GOOGLE_CLIENT, "person": app.person.simulated}).expect(200)
    app.stack.confidential |= {answer["access_token"], answer["id_token"]}
    return answer["access_token"], GOOGLE_CLIENT


@pytest.fixture
def thief(stack, new_app):
    """An owner with a Google account, and a thief's phone that has their access token only."""
    owner = new_app()
    owner.sign_in("google")
    owner.complete()
    owner.create_group()
    thief = App(stack, owner.person)
    token, client = leaked_access_token(owner)
    thief.present("google", {"access_token": token, "client_id": client}).expect(200)
    assert thief.user_id == owner.user_id
    thief.owner = owner
    return thief


def deletes_at(app):
    return app.get("/auth/sessions").expect(200)["deletes_at"]


def test_a_leaked_access_token_deletes_no_account(stack, thief):
    answer = thief.gateway.send("DELETE", "/me", token=thief.access_token).expect(202)
    when = datetime.datetime.fromisoformat(answer["deletes_at"]) - datetime.datetime.now(datetime.UTC)
    assert datetime.timedelta(days=6, hours=23) < when < datetime.timedelta(days=7, seconds=5)
    assert thief.gateway.send("DELETE", "/me", token=thief.access_token).expect(202) == answer
    owner = thief.owner
    assert owner.get("/me").expect(200)["phone_number"] == owner.person.phone
    assert deletes_at(owner) == answer["deletes_at"]
    for _ in range(2):
        assert owner.gateway.send("DELETE", "/me/deletion", token=owner.access_token).status == 204
    assert deletes_at(owner) is None
    kinds = stack.sql(
        f"SELECT kind FROM identity.security_events WHERE user_id = '{owner.user_id}' AND kind LIKE 'deletion%' ORDER BY event_id")
    assert kinds.split() == ["deletion_scheduled", "deletion_cancelled"]
    owner.delete()


@pytest.mark.parametrize("way", WAYS)
def test_a_scheduled_deletion_by_rpc(stack, thief, way):
    with client_of(stack.addresses["gateway"], way) as client:
        scheduled = client.call("AccountService/DeleteMe", thief.access_token)
        assert scheduled.deletes_at.seconds > time.time() + 6 * 86_400
        listed = client.call("AuthService/ListSessions", thief.owner.access_token)
        assert listed.deletes_at == scheduled.deletes_at
        client.call("AccountService/CancelDeletion", thief.owner.access_token)
        assert not client.call("AuthService/ListSessions", thief.owner.access_token).HasField("deletes_at")


def pass_the_delay(app):
    """Advances time to the account's scheduled deletion."""
    changed = app.stack.sql(
        "UPDATE identity.scheduled_deletions SET deletes_at = now(), next_at = now() "
        f"WHERE user_id = '{app.user_id}' RETURNING user_id")
    assert app.user_id in changed


def test_a_scheduled_deletion_happens_at_its_time(stack, thief):
    thief.gateway.send("DELETE", "/me", token=thief.access_token).expect(202)
    assert trace(stack, thief.user_id)["identity"]["held"]["scheduled_deletions"] == 1
    pass_the_delay(thief)
    process_table.wait_until(lambda: is_forgotten(stack, thief.user_id), 20, "the deletion")
    thief.owner.get("/me").problem(401, "SESSION_INVALID")


def test_the_answer_lists_consents_to_withdraw(stack, new_app):
    app = new_app()
    # Without a code there is no token to revoke.
    app.present("apple", {name: value for name, value in app.ask_apple().items() if name != "authorization_code"}).expect(200)
    assert app.delete().expect(200) == {"consents_left": ["apple"]}
    # A client that lost the answer gets the same one.
    assert app.delete().expect(200) == {"consents_left": ["apple"]}
    google = new_app()
    google.sign_in("google")
    assert google.delete().status == 204


@pytest.mark.parametrize("way", WAYS)
def test_by_rpc(stack, app, way):
    with client_of(stack.addresses["gateway"], way) as client:
        client.call("AccountService/DeleteMe", app.access_token)
        client.call("AccountService/DeleteMe", app.access_token)
    app.get("/me").problem(401, "SESSION_INVALID")


def test_an_operator_deletes_by_the_service_key(stack, whole):
    key = (stack.folder / "secrets/supabase-service-key").read_text().strip()
    path = f"/auth/v1/admin/users/{whole.user_id}"
    assert whole.gateway.send("DELETE", path, token=whole.access_token).status == 403
    for _ in range(2):
        assert whole.gateway.send("DELETE", path, token=key).expect(200) == {}
    whole.get("/me").problem(401, "SESSION_INVALID")
    assert whole.gateway.send("DELETE", f"/auth/v1/admin/users/{uuid.uuid4()}", token=key).status == 404
    process_table.wait_until(lambda: is_forgotten(stack, whole.user_id), 15, "the end of all that is left")


def test_export_contains_all_data_of_a_user(stack, whole):
    told = account(stack, "export", whole.user_id)
    assert told.returncode == 0, told.stderr
    data = json.loads(told.stdout)
    assert data["identity"]["account"]["user_id"] == whole.user_id
    assert [identity["email"] for identity in data["identity"]["identities"]] == [whole.person.email]
    assert [session["device_name"] for session in data["identity"]["sessions"]] == [whole.device_name]
    assert data["profile"]["profile"]["phone"] == whole.person.phone[1:]
    assert [group["owner_user_id"] for group in data["invites"]["groups"]] == [whole.user_id]
    assert len(data["invites"]["memberships"]) == 1
    assert '"nonce" :' not in told.stdout and '"nonce":' not in told.stdout, "what tokens are made of"
    again = json.loads(account(stack, "export", whole.user_id).stdout)
    assert [event["kind"] for event in again["identity"]["security_events"]].count("account_exported") == 1
    unknown = account(stack, "export", str(uuid.uuid4()))
    assert unknown.returncode == 1 and unknown.stdout == ""
    assert account(stack, "trace", "me").returncode == 64


def test_a_deletion_survives_every_kill():
    """With a service down, and identity killed after the answer: all services are notified eventually."""
    with new_stack() as stack:
        stack.start()
        apps = []
        for _ in range(5):
            app = App(stack)
            app.sign_in()
            app.complete()
            app.create_group()
            apps.append(app)
        for name in ("profile", "invites"):
            os.kill(stack.process_of(name), signal.SIGSTOP)
        for app in apps:
            app.delete()
        # An account whose deletion is due while identity is down.
        late = App(stack)
        late.sign_in("google")
        stack.sql(f"UPDATE identity.sessions SET proof = 'fresh' WHERE session_id = '{late.session['session_id']}'")
        late.gateway.send("DELETE", "/me", token=late.access_token).expect(202)
        os.kill(stack.process_of("identity"), signal.SIGSTOP)
        pass_the_delay(late)
        apps.append(late)
        assert not is_forgotten(stack, apps[0].user_id)
        postmaster = stack.postmaster
        stack.kill_all()
        # Until then the socket counts as in use.
        process_table.wait_until(
            lambda: not os.path.exists(f"/proc/{postmaster}"), 10, "the end of PostgreSQL")
        stack.start()
        process_table.wait_until(
            lambda: all(is_forgotten(stack, app.user_id) for app in apps), 30, "all data to be deleted")
        assert stack.sql("SELECT count(*) FROM profile.phones") == "0"
        assert stack.sql("SELECT count(*) FROM invites.groups") == "0"
        assert stack.stop() == 0, stack.output
