"""Further providers of an account: linked, listed and unlinked by the user."""

import concurrent.futures
import os
import random
import re
import signal

import pytest

import process_table
from app import DELETED, GOOGLE_CLIENT, App
from app_clients import WAYS, Refused, client_of
from stack import new_stack
from watching import Watching

# An app whose tokens have no nonce: a token alone signs in.
BARE_CLIENT = "com.example.bare"
MEMBERS = {"provider", "email", "private_email", "linked_at", "last_sign_in_at", "disabled"}
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def listed(app):
    answer = app.get("/auth/identities").expect(200)
    assert set(answer) == {"identities"}
    for identity in answer["identities"]:
        assert set(identity) == MEMBERS
        assert MOMENT.fullmatch(identity["linked_at"]) and MOMENT.fullmatch(identity["last_sign_in_at"])
        assert identity["linked_at"] <= identity["last_sign_in_at"]
    return [identity["provider"] for identity in answer["identities"]]


def link_google(app):
    return app.post("/auth/identities/google", app.ask_google())


def unlink(app, provider):
    return app.gateway.send("DELETE", f"/auth/identities/{provider}", token=app.access_token)


def test_a_linked_provider_signs_in_to_the_account(stack, app, new_app):
    assert listed(app) == ["apple"]
    answer = link_google(app).expect(200)
    assert [identity["provider"] for identity in answer["identities"]] == ["apple", "google"]
    assert answer["identities"][1]["email"] == app.person.email
    assert listed(app) == ["apple", "google"]
    # Repeating it succeeds.
    link_google(app).expect(200)
    android = new_app(app.person)
    assert android.sign_in("google")["user_id"] == app.user_id
    kinds = stack.sql(
        f"SELECT string_agg(kind, ' ' ORDER BY event_id) FROM identity.security_events WHERE user_id = '{app.user_id}'")
    assert kinds == "signed_in provider_linked signed_in"


def test_a_provider_is_unlinked(stack, app, new_app):
    link_google(app).expect(200)
    android = new_app(app.person)
    android.sign_in("google")
    assert unlink(app, "google").status == 204
    assert unlink(app, "google").status == 204
    android.get("/me").problem(401, "SESSION_REVOKED")
    app.get("/me").expect(200)
    unlink(app, "apple").problem(409, "LAST_PROVIDER")
    assert listed(app) == ["apple"]
    assert android.sign_in("google")["is_new_user"]
    assert stack.sql(
        f"SELECT revoke_reason FROM identity.sessions WHERE user_id = '{app.user_id}' AND revoked_at IS NOT NULL") == "unlinked"


def test_an_identity_of_another_account_is_refused(app, new_app):
    app.complete()
    other = new_app(app.person)
    other.sign_in("google")
    other.save(display_name=other.person.name, phone_number="+63918" + other.person.digits[3:]).expect(200)
    request = app.ask_google()
    app.post("/auth/identities/google", request).problem(409, "IDENTITY_TAKEN")
    # Google's credentials can still sign in.
    assert other.present("google", request).expect(200)["user_id"] == other.user_id
    app.post("/auth/identities/google", request).problem(401, "TOKEN_REPLAYED")


def test_another_identity_of_a_provider_is_refused(app, new_app):
    link_google(app).expect(200)
    request = new_app().ask_google()
    app.post("/auth/identities/google", request).problem(409, "PROVIDER_ALREADY_LINKED")
    app.post("/auth/identities/unknown", request).problem(404, "PROVIDER_UNKNOWN")
    unlink(app, "unknown").problem(404, "PROVIDER_UNKNOWN")


def test_credentials_used_for_linking_sign_nobody_in(app):
    request = app.ask_google()
    app.post("/auth/identities/google", request).expect(200)
    app.gateway.post("/auth/google", request).problem(401, "TOKEN_REPLAYED")


@pytest.mark.parametrize("way", WAYS)
def test_by_rpc(stack, app, way):
    request = app.ask_google()
    with client_of(stack.addresses["gateway"], way) as client:
        client.tells_details = way != "grpc-web-pyease"
        linked = client.call("AuthService/LinkProvider", app.access_token, credentials={"provider": "google", **request})
        assert [each.provider for each in linked.providers] == ["apple", "google"]
        told = client.call("AuthService/ListProviders", app.access_token)
        assert [each.email for each in told.providers][1] == app.person.email
        client.call("AuthService/UnlinkProvider", app.access_token, provider="google")
        with pytest.raises(Refused) as refused:
            client.call("AuthService/UnlinkProvider", app.access_token, provider="apple")
        assert refused.value.code == "FAILED_PRECONDITION"
    assert listed(app) == ["apple"]


# Limits of a sign-in by a token alone

def age(stack, app, seconds):
    """Makes the sign-in of an app's session, and its linked providers, older by this time."""
    for table in ("sessions", "provider_identities"):
        stack.sql(
            f"UPDATE identity.{table} SET created_at = created_at - interval '{seconds} seconds' WHERE user_id = '{app.user_id}'")


def test_a_stolen_token_takes_no_account(stack, app, new_app):
    """A thief has a copy of the owner's tokens, and an account at Google."""
    age(stack, app, 11 * 60)
    app.refresh().expect(200)
    thief = new_app()
    mine = thief.ask_google()
    app.post("/auth/identities/google", mine).problem(403, "RECENT_SIGN_IN_REQUIRED")
    app.sign_in()
    link_google(app).expect(200)
    age(stack, app, 11 * 60)
    unlink(app, "apple").problem(403, "RECENT_SIGN_IN_REQUIRED")
    # Google signs the thief in to an account of their own.
    assert thief.present("google", mine).expect(200)["user_id"] != app.user_id
    assert listed(app) == ["apple", "google"]


def test_a_provider_linked_today_cannot_remove_an_older_one(stack, app, new_app):
    """A thief had the unlocked phone for a minute, right after its owner signed in; the owner is notified and undoes it."""
    age(stack, app, 40 * 86_400)
    owner = new_app(app.person)
    owner.sign_in()
    app.sign_in()
    thief = new_app()
    with Watching(owner) as watching, Watching(app) as own:
        app.post("/auth/identities/google", thief.ask_google()).expect(200)
        watching.wait(lambda: "account_changed" in watching.kinds, "news of the account")
        (told,) = [data for name, data in watching.events if name == "account_changed"]
        assert (told["kind"], told["provider"]) == ("provider_linked", "google") and MOMENT.fullmatch(told["occurred_at"])
        assert "account_changed" not in own.kinds, "its own session knows"
    assert thief.sign_in("google")["user_id"] == app.user_id
    for way_in in (thief, app):
        answer = unlink(way_in, "apple")
        answer.problem(403, "PROVIDER_LINKED_TOO_RECENTLY")
        assert 86_000 < int(answer.headers["Retry-After"]) <= 86_400
    change, = owner.get("/auth/sessions").expect(200)["recent_changes"]
    assert (change["kind"], change["provider"], change["session_id"]) == (
        "provider_linked", "google", app.session["session_id"])
    assert unlink(owner, "google").status == 204
    thief.get("/me").problem(401, "SESSION_REVOKED")
    assert owner.gateway.send("DELETE", f"/auth/sessions/{change['session_id']}", token=owner.access_token).status == 204
    kinds = [each["kind"] for each in owner.get("/auth/sessions").expect(200)["recent_changes"]]
    assert kinds == ["provider_unlinked", "provider_linked"]
    assert listed(owner) == ["apple"]


def bare_apple(app):
    """What an app without a nonce has, or a thief of its token."""
    order = {"client_id": BARE_CLIENT, "person": app.person.simulated}
    answer = app.stack.simulator.post("/control/apple/sign-in", order).expect(200)
    app._keep(answer["identity_token"], answer["authorization_code"])
    return {name: answer[name] for name in ("identity_token", "authorization_code")}


def google_access_token(app):
    order = {"client_id": GOOGLE_CLIENT, "person": app.person.simulated}
    answer = app.stack.simulator.post("/control/google/sign-in", order).expect(200)
    app._keep(answer["access_token"], answer["id_token"])
    return {"access_token": answer["access_token"], "client_id": GOOGLE_CLIENT}


def test_a_leaked_token_links_nobody_to_a_strangers_account(app, new_app):
    """A new user must not find an account that a thief has prepared."""
    victim, thief = new_app(), new_app()
    thief.sign_in("google")
    leaked = bare_apple(victim)
    thief.post("/auth/identities/apple", {"identity_token": leaked["identity_token"]}).problem(403, "PROOF_REQUIRED")
    app.post("/auth/identities/google", google_access_token(victim)).problem(403, "PROOF_REQUIRED")
    assert listed(thief) == ["google"] and listed(app) == ["apple"]
    for provider in ("apple", "google"):
        assert victim.sign_in(provider)["is_new_user"]
    # The app that has the code beside the token can link with it.
    own = new_app()
    own.sign_in("google")
    answer = own.post("/auth/identities/apple", bare_apple(own)).expect(200)
    assert [identity["provider"] for identity in answer["identities"]] == ["google", "apple"]


def test_a_session_by_a_token_alone_cannot_link_or_unlink(new_app):
    weak = new_app()
    weak.present("apple", {"identity_token": bare_apple(weak)["identity_token"]}).expect(200)
    request = weak.ask_google()
    weak.post("/auth/identities/google", request).problem(403, "PROOF_REQUIRED")
    unlink(weak, "apple").problem(403, "PROOF_REQUIRED")
    # Google's credentials can still sign in.
    assert new_app(weak.person).present("google", request).expect(200)["is_new_user"]


# Absorption

def link_with(app, provider):
    request = app.ask_apple() if provider == "apple" else app.ask_google()
    return app.post(f"/auth/identities/{provider}", request)


def settled(app, provider):
    """Repeats the link until it is decided, for at most half a minute."""
    answers = []

    def is_decided():
        answers.append(link_with(app, provider))
        return answers[-1].status != 503

    process_table.wait_until(is_decided, 30, "a decision")
    return answers[-1]


def is_forgotten(stack, user_id):
    return stack.sql(
        "SELECT count(*) FROM identity.account_closings WHERE profile_done_at IS NOT NULL AND invites_done_at IS NOT NULL "
        f"AND user_id = '{user_id}'") == "1"


def test_a_new_phone_finds_its_users_account(stack, new_app):
    android = new_app()
    android.sign_in("google")
    android.complete()
    group = android.create_group()
    iphone = new_app(android.person)
    iphone.sign_in("apple")
    iphone.save(display_name="Somebody New").expect(200)
    iphone.save(phone_number=android.person.phone).problem(409, "PHONE_TAKEN", [("phone_number", "PHONE_TAKEN")])
    absorbed, old_token = iphone.user_id, iphone.access_token
    answer = link_google(iphone).expect(200)
    assert [identity["provider"] for identity in answer["identities"]] == ["google", "apple"]
    assert answer["session"]["user_id"] == android.user_id and answer["session"]["missing_fields"] == []
    iphone._take(answer["session"])
    profile = iphone.get("/me").expect(200)
    assert (profile["display_name"], profile["phone_number"]) == (android.person.name, android.person.phone)
    assert [each["id"] for each in iphone.get("/groups").expect(200)["groups"]] == [group]
    iphone.gateway.get("/me", token=old_token).problem(401, "SESSION_INVALID")
    # A repeated deletion with the absorbed account's token doesn't answer as if the user had deleted it.
    iphone.gateway.send("DELETE", "/me", token=old_token).problem(401, "SESSION_INVALID")
    android.get("/me").expect(200)
    assert not new_app(android.person).sign_in("apple")["is_new_user"]
    process_table.wait_until(lambda: is_forgotten(stack, absorbed), 15, "the end of the other account")
    assert stack.sql(f"SELECT count(*) FROM invites.held_accounts WHERE user_id = '{absorbed}'") == "0"


def test_an_old_session_absorbs_nothing(stack, app, new_app):
    other = new_app(app.person)
    other.sign_in("google")
    stack.sql(
        "UPDATE identity.sessions SET created_at = created_at - interval '11 minutes' "
        f"WHERE session_id = '{app.session['session_id']}'")
    link_google(app).problem(403, "RECENT_SIGN_IN_REQUIRED")
    app.sign_in()
    link_google(app).expect(200)
    other.get("/me").problem(401, "SESSION_INVALID")


def check_history(seed, round_number, stack, new_app):
    """Two accounts of one user, with concurrent links, saves, groups and deletions: every acknowledged change is there."""
    chance = random.Random(f"{seed} {round_number}")
    apple, google = new_app(), None
    apple.sign_in("apple")
    google = new_app(apple.person)
    google.sign_in("google")
    apps = {"apple": apple, "google": google}
    number = {"apple": f"+63917{chance.randrange(10**7):07}", "google": f"+63918{chance.randrange(10**7):07}"}
    other = {"apple": "google", "google": "apple"}
    done = {}

    def save(name):
        done["phone", name] = apps[name].gateway.patch(
            "/me", {"display_name": f"By {name}", "phone_number": number[name]}, token=tokens_of[name]).status

    def group(name):
        done["group", name] = apps[name].gateway.post("/groups", {"name": f"Of {name}"}, token=tokens_of[name]).status

    def link(name):
        done["link", name] = link_with(apps[name], other[name]).status

    def delete(name):
        done["delete", name] = apps[name].gateway.send("DELETE", "/me", token=tokens_of[name]).status

    tokens_of = {name: app.access_token for name, app in apps.items()}
    users = {name: app.user_id for name, app in apps.items()}
    calls = [(link, chance.choice(["apple", "google"]))]
    calls += [(act, name) for act in (save, group, link) for name in apps if chance.random() < 0.4]
    if chance.random() < 0.2:
        calls.append((delete, chance.choice(["apple", "google"])))
    chance.shuffle(calls)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(act, name) for act, name in calls]:
            future.result()
    process_table.wait_until(lambda: stack.sql("SELECT count(*) FROM identity.absorptions") == "0", 30, "all absorptions to be decided")
    # A sign-in by either provider finds what was acknowledged for it, unless it was deleted.
    for name in apps:
        if any(done.get(("delete", each)) in DELETED for each in apps):
            continue
        again = new_app(apple.person)
        again.sign_in(name)
        story = f"{seed} {round_number} {calls} {done}"
        if done.get(("phone", name)) == 200:
            assert again.user_id == users[name] and again.get("/me").expect(200)["phone_number"] == number[name], story
        if done.get(("group", name)) == 201:
            names = [each["name"] for each in again.get("/groups").expect(200)["groups"]]
            assert f"Of {name}" in names, story
        # The account can still save everything, and isn't held.
        again.save(display_name="Afterwards").expect(200)
        again.create_group("Afterwards")
    assert stack.sql("SELECT count(*) FROM invites.held_accounts") == "0"


@pytest.mark.parametrize("seed", [1, 2])
def test_acknowledged_changes_are_kept(stack, new_app, seed):
    for round_number in range(12):
        check_history(seed, round_number, stack, new_app)


@pytest.mark.parametrize("frozen, saves", [("invites", True), ("profile", True), ("profile", False)])
def test_an_absorption_survives_every_kill(frozen, saves):
    """All programs are killed during a call to a service; the user saves a number before it continues, or not."""
    with new_stack() as stack:
        stack.start()
        apple = App(stack)
        apple.sign_in("apple")
        google = App(stack, apple.person)
        google.sign_in("google")
        os.kill(stack.process_of(frozen), signal.SIGSTOP)
        link_google(apple).problem(503, "ACCOUNT_HELD")
        assert stack.sql("SELECT state FROM identity.absorptions") == {"invites": "asking", "profile": "closing"}[frozen]
        postmaster = stack.postmaster
        stack.kill_all()
        process_table.wait_until(lambda: not os.path.exists(f"/proc/{postmaster}"), 10, "the end of PostgreSQL")
        stack.start()
        saved = None
        if saves:
            saved = google.save(display_name=google.person.name, phone_number=google.person.phone).status
            assert saved in (200, 401)
        process_table.wait_until(
            lambda: stack.sql("SELECT count(*) FROM identity.absorptions") == "0", 30, "the decision")
        stays = google if saved == 200 else apple
        for provider in ("apple", "google"):
            again = App(stack, apple.person)
            assert again.sign_in(provider)["user_id"] == stays.user_id
        again.complete()
        again.create_group()
        assert stack.sql("SELECT count(*) FROM invites.held_accounts") == "0"
        assert stack.stop() == 0, stack.output
