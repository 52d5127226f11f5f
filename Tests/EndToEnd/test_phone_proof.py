"""How phone numbers are typed, proven by the app's backend or by a provider, taken, given up and disputed."""

import json
import os
import signal
import time

import pytest

import process_table
import tokens
from app import APPLE_CLIENT, GOOGLE_CLIENT, App, Person
from phone_backend import PhoneBackend
from stack import new_stack, short_folder
from test_import import new_id, people, phone_codes
from test_import import run as bring_in
from test_operators import account, done

LOG = "SELECT kind FROM identity.security_events WHERE user_id = '{}' AND kind LIKE 'phone_%' ORDER BY event_id"


def prove(app, assertion):
    app.stack.confidential.add(assertion)
    return app.post("/me/phone-proof", {"assertion": assertion})


def log(stack, app):
    return stack.sql(LOG.format(app.user_id)).split()


def test_a_proof_takes_the_number_and_its_places(stack, new_app):
    owner, mallory, maria = new_app(), new_app(), new_app()
    for app in (owner, mallory, maria):
        app.sign_in()
    owner.complete()
    number = maria.person.phone
    # The user who types it first gets the place.
    mallory.save(display_name=mallory.person.name, phone_number=number).expect(200)
    group = owner.create_group()
    seat = owner.invite(maria.person, group)
    mallory.wait_for_group(group)
    assertion = stack.backend.assertion(maria.user_id, number)
    me = prove(maria, assertion).expect(200)
    assert (me["phone_number"], me["phone_proven"]) == (number, True)
    maria.wait_for_group(group)
    assert {member["id"]: member["user_id"] for member in maria.members(group)}[seat["id"]] == maria.user_id
    mallory.get(f"/groups/{group}/members").problem(403, "NOT_A_MEMBER")
    lost = mallory.get("/me").expect(200)
    assert (lost["phone_number"], lost["phone_proven"], lost["missing_fields"]) == (None, False, ["phone_number"])
    assert lost["phone_taken_at"] is not None
    assert log(stack, maria) == ["phone_proven"] and log(stack, mallory) == ["phone_taken"]
    # Repeated, as after a lost answer: the answer is the same, and nothing happens twice.
    assert prove(maria, assertion).expect(200) == me
    assert log(stack, maria) == ["phone_proven"]
    # Typing it is refused, as the number is in use; another number ends the notice.
    mallory.save(phone_number=number).problem(409, "PHONE_TAKEN", [("phone_number", "PHONE_TAKEN")])
    assert mallory.save(phone_number=mallory.person.phone).expect(200)["phone_taken_at"] is None


def test_giving_a_typed_number_up_before_the_proof_keeps_no_place(stack, new_app):
    owner, mallory, maria = new_app(), new_app(), new_app()
    for app in (owner, mallory, maria):
        app.sign_in()
    owner.complete()
    number = maria.person.phone
    mallory.save(display_name=mallory.person.name, phone_number=number).expect(200)
    group = owner.create_group()
    owner.invite(maria.person, group)
    mallory.wait_for_group(group)
    mallory.save(phone_number=mallory.person.phone).expect(200)
    process_table.wait_until(lambda: len(owner.members(group)) == 3, 15, "a second place for the number")
    prove(maria, stack.backend.assertion(maria.user_id, number)).expect(200)
    maria.wait_for_group(group)
    assert {member["user_id"] for member in owner.members(group)} == {owner.user_id, maria.user_id}
    mallory.get(f"/groups/{group}/members").problem(403, "NOT_A_MEMBER")
    left = mallory.get("/me").expect(200)
    assert (left["phone_number"], left["phone_taken_at"]) == (mallory.person.phone, None)
    assert log(stack, mallory) == ["phone_taken"]


def test_ones_own_number_stays_proven_until_another_one_is_typed(stack, member):
    assert member.get("/me").expect(200)["phone_proven"] is False
    assert prove(member, stack.backend.assertion(member.user_id, member.person.phone)).expect(200)["phone_proven"] is True
    assert member.save(phone_number=Person().phone).expect(200)["phone_proven"] is False


def test_invalid_assertions(stack, app, new_app):
    other = new_app()
    other.sign_in()
    now = int(time.time())
    backend, stranger = stack.backend, PhoneBackend()
    phone = Person().phone

    def refused(assertion, reason):
        prove(app, assertion).problem(422, reason, [("assertion", reason)])

    refused("a.b.c", "ASSERTION_INVALID")
    refused(stranger.assertion(app.user_id, phone), "ASSERTION_INVALID")
    header = tokens.encode(json.dumps({"alg": "none", "kid": "backend-1"}).encode())
    refused(f"{header}.{backend.assertion(app.user_id, phone).split('.')[1]}.", "ASSERTION_INVALID")
    for change in ({"jti": None}, {"phone_number": phone[1:]}, {"iat": None}):
        refused(backend.assertion(app.user_id, phone, **change), "ASSERTION_INVALID")
    for change in ({"iss": "https://other.example.com"}, {"aud": "others"}, {"sub": other.user_id}):
        refused(backend.assertion(app.user_id, phone, **change), "ASSERTION_MISMATCHED")
    for change in ({"exp": now - 60}, {"exp": now + 900}, {"iat": now + 240}):
        refused(backend.assertion(app.user_id, phone, **change), "ASSERTION_EXPIRED")
    prove(app, backend.assertion(app.user_id, "+14155552671")).problem(
        422, "PHONE_NOT_ALLOWED", [("phone_number", "PHONE_NOT_ALLOWED")])
    assert app.gateway.post("/me/phone-proof", {"assertion": "a.b.c"}).status == 401
    assert app.get("/me").expect(200)["phone_number"] is None and log(stack, app) == []


def test_operators_settle_a_number_that_two_users_have_proven(stack, new_app):
    holder, claimant = new_app(), new_app()
    for app in (holder, claimant):
        app.sign_in()
    number = holder.person.phone
    prove(holder, stack.backend.assertion(holder.user_id, number)).expect(200)
    prove(claimant, stack.backend.assertion(claimant.user_id, number)).problem(
        409, "PHONE_TAKEN", [("phone_number", "PHONE_TAKEN")])
    assert log(stack, claimant) == ["phone_conflict"]
    disputes = [each for each in json.loads(done(stack, "disputes", "--json"))["disputes"] if each["phone_number"] == number]
    assert [(each["holder_user_id"], each["claimant_user_id"], each["proof"]) for each in disputes] == [
        (holder.user_id, claimant.user_id, "assertion")]
    assert f"{number} is account {holder.user_id}'s" in done(stack, "disputes")
    done(stack, "release-phone", number, "--confirm")
    assert prove(claimant, stack.backend.assertion(claimant.user_id, number)).expect(200)["phone_number"] == number
    assert number not in done(stack, "disputes")


def test_a_new_sim_card_loses_no_place(new_app):
    owner, maria, next_one = new_app(), new_app(), new_app()
    for app in (owner, maria, next_one):
        app.sign_in()
    owner.complete()
    group = owner.create_group()
    owner.invite(maria.person, group)
    maria.complete()
    maria.wait_for_group(group)
    maria.save(phone_number=Person().phone).expect(200)
    process_table.wait_until(lambda: len(owner.members(group)) == 3, 15, "a second place for the number")
    states = sorted((member["state"], member["user_id"] or "") for member in owner.members(group))
    assert states == sorted([("member", owner.user_id), ("member", maria.user_id), ("pending", "")])
    # The number's next user joins beside the former one, who stays.
    next_one.save(display_name="Next One", phone_number=maria.person.phone).expect(200)
    next_one.wait_for_group(group)
    assert {member["user_id"] for member in owner.members(group)} == {owner.user_id, maria.user_id, next_one.user_id}


@pytest.fixture(scope="module")
def own_stack():
    """A stack with the waiting times of a deployment, which trusts one of its providers for numbers."""
    with short_folder() as folder, new_stack(
            VESTIBULE_LOG_LEVEL="trace", VESTIBULE_PROFILE_PHONE_COOL_DOWN="1d",
            VESTIBULE_IDENTITY_PHONE_ASSERTIONS_FILE=str(folder / "backend.json"),
            VESTIBULE_IDENTITY_PROVIDERS_FILE=str(folder / "providers.json")) as stack:
        stack.backend = PhoneBackend(folder / "backend.json")
        simulator = f"http://{stack.addresses['simulator']}"
        (folder / "providers.json").write_text(json.dumps({"providers": [
            {"name": "apple", "keys_url": f"{simulator}/apple/auth/keys", "audiences": [{"id": APPLE_CLIENT}]},
            {"name": "google", "keys_url": f"{simulator}/google/oauth2/v3/certs", "phone_trusted": True,
             "audiences": [{"id": GOOGLE_CLIENT, "kind": "web", "match": "either"}]},
        ]}))
        stack.start()
        yield stack
        assert stack.stop() == 0, stack.output
        stack.expect_no_confidences()


def signed_in(stack, provider="apple", **claims):
    app = App(stack)
    request = app.ask_google(claims=claims) if provider == "google" else app.ask_apple(claims=claims)
    app.present(provider, request).expect(200)
    return app


def test_a_trusted_provider_proves_the_number_at_sign_in(own_stack):
    mallory = signed_in(own_stack)
    person = Person()
    mallory.save(display_name="Mallory", phone_number=person.phone).expect(200)
    own_stack.confidential.add(person.digits)
    maria = App(own_stack)
    claims = {"phone_number": person.phone, "phone_number_verified": True}
    assert maria.present("google", maria.ask_google(claims=claims)).expect(200)["missing_fields"] == ["display_name"]
    me = maria.get("/me").expect(200)
    assert (me["phone_number"], me["phone_proven"]) == (person.phone, True)
    assert mallory.get("/me").expect(200)["phone_number"] is None
    # A number chosen in the app stays at the next sign-in.
    chosen = Person()
    maria.save(phone_number=chosen.phone).expect(200)
    maria.present("google", maria.ask_google(claims=claims)).expect(200)
    assert maria.get("/me").expect(200)["phone_number"] == chosen.phone


def test_an_untrusted_or_unverified_number_proves_nothing(own_stack):
    person = Person()
    own_stack.confidential.add(person.digits)
    for provider, verified in (("apple", True), ("google", False), ("google", "true")):
        app = signed_in(own_stack, provider, phone_number=person.phone, phone_number_verified=verified)
        assert app.get("/me").expect(200)["phone_number"] is None, (provider, verified)


def test_a_number_that_was_given_up_waits_except_for_its_last_user_and_for_a_proof(own_stack):
    maria, jose = signed_in(own_stack), signed_in(own_stack)
    old, new = Person(), Person()
    maria.save(display_name="Maria", phone_number=old.phone).expect(200)
    maria.save(phone_number=new.phone).expect(200)
    jose.save(display_name="Jose", phone_number=old.phone).problem(409, "PHONE_TAKEN", [("phone_number", "PHONE_TAKEN")])
    maria.save(phone_number=old.phone).expect(200)
    maria.save(phone_number=new.phone).expect(200)
    assert prove(jose, own_stack.backend.assertion(jose.user_id, old.phone)).expect(200)["phone_number"] == old.phone
    # Numbers of a deleted user don't wait either.
    ana = signed_in(own_stack)
    maria.save(phone_number=Person().phone).expect(200)
    ana.save(display_name="Ana", phone_number=new.phone).problem(409, "PHONE_TAKEN", [("phone_number", "PHONE_TAKEN")])
    maria.delete()
    process_table.wait_until(lambda: ana.save(phone_number=new.phone).status == 200, 15, "the number to be free")


def test_while_profile_is_down_a_proof_waits(own_stack):
    maria = signed_in(own_stack)
    number = maria.person.phone
    pid = own_stack.process_of("profile")
    os.kill(pid, signal.SIGSTOP)
    try:
        assert prove(maria, own_stack.backend.assertion(maria.user_id, number)).status == 202
    finally:
        os.kill(pid, signal.SIGCONT)
    process_table.wait_until(lambda: maria.get("/me").json.get("phone_number") == number, 30, "the number to be delivered")
    assert maria.get("/me").expect(200)["phone_proven"] is True


def imported(stack, folder, count, source):
    """Users whose numbers are imported, and who have a place in a group; returns their accounts and the group."""
    found = people(stack, count)
    owner = signed_in(stack)
    owner.save(display_name="Owner", phone_number=owner.person.phone).expect(200)
    group = owner.create_group()
    for person in found:
        owner.invite(person, group)
    bring_in(stack, folder, "phone-codes", phone_codes(folder / f"{source}.csv", found), "--source-name", source)
    users = [new_id(source, number) for number in range(count)]
    seats = f"SELECT count(*) FROM invites.members WHERE group_id = '{group}' AND user_id IS NOT NULL"
    process_table.wait_until(lambda: stack.sql(seats) == str(count + 1), 60, "the places")
    return list(zip(found, users)), group


def expect_old_account(app, person, user, group):
    """Checks that the app is in the imported account, with all its data."""
    me = app.get("/me").expect(200)
    assert (me["user_id"], me["display_name"], me["phone_number"], me["missing_fields"]) == (user, person.name, person.phone, [])
    assert app.group_ids() == [group]


OPENED = ("SELECT kind || ' ' || (details->>'by') FROM identity.security_events WHERE user_id = '{}' AND kind LIKE 'account_open%' "
          "ORDER BY kind DESC")


def test_a_proof_of_its_number_opens_an_imported_account(own_stack, tmp_path):
    stack = own_stack
    (maria, jose), group = imported(stack, tmp_path, 2, "opening")
    # By a trusted provider, during the sign-in.
    person, user = maria
    app = App(stack, person)
    request = app.ask_google(claims={"phone_number": person.phone, "phone_number_verified": True})
    answer = app.present("google", request).expect(200)
    assert (answer["user_id"], answer["is_new_user"], answer["missing_fields"]) == (user, False, [])
    expect_old_account(app, person, user, group)
    assert app.get("/me").expect(200)["phone_proven"] is True
    again = App(stack, person)
    assert again.present("google", again.ask_google()).expect(200)["user_id"] == user
    assert stack.sql(OPENED.format(user)).split("\n") == ["account_opening provider", "account_opened provider"]
    # By an assertion, in a session of the new account, which ends.
    person, user = jose
    app = App(stack, person)
    new = app.sign_in()["user_id"]
    assertion = stack.backend.assertion(new, person.phone)
    prove(app, assertion).problem(401, "ACCOUNT_OPENED")
    process_table.wait_until(lambda: app.get("/me").status == 401, 2, "the end of the session")
    assert prove(app, assertion).status == 401
    back = App(stack, person)
    assert back.sign_in()["user_id"] == user
    expect_old_account(back, person, user, group)
    assert log(stack, back) == ["phone_proven"]
    assert stack.sql(f"SELECT why FROM identity.account_closings WHERE user_id = '{new}'") == "absorbed"
    assert stack.sql(f"SELECT proof FROM profile.phones WHERE user_id = '{user}'") == "assertion"


def test_an_imported_account_stays_closed_to_a_user_with_data_of_their_own(own_stack, tmp_path):
    stack = own_stack
    ((person, user),), group = imported(stack, tmp_path, 1, "disputed")
    app = signed_in(stack)
    app.save(display_name="Somebody Else", phone_number=app.person.phone).expect(200)
    prove(app, stack.backend.assertion(app.user_id, person.phone)).problem(
        409, "PHONE_TAKEN", [("phone_number", "PHONE_TAKEN")])
    assert app.get("/me").expect(200)["phone_number"] == app.person.phone and app.group_ids() == []
    assert f"{person.phone} is account {user}'s" in done(stack, "disputes")
    assert app.create_group()
    # An operator can't open it either, since the other account isn't empty.
    refused = account(stack, "open", user, "--for", app.user_id, "--confirm")
    assert refused.returncode == 1 and "ACCOUNT_NOT_ABSORBABLE" in refused.stderr
    assert stack.sql(f"SELECT count(*) FROM identity.provider_identities WHERE user_id = '{user}'") == "0"
    assert app.get("/me").status == 200 and len(app.group_ids()) == 1


def test_an_operator_opens_an_imported_account(own_stack, tmp_path):
    stack = own_stack
    ((person, user),), group = imported(stack, tmp_path, 1, "by-hand")
    app = signed_in(stack)
    told = account(stack, "open", user, "--for", app.user_id)
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr == (
        f"vestibule account open: account {user} would be signed in to by apple, and account {app.user_id} would be gone, if it is "
        "empty. Nothing was changed; --confirm does it\n")
    assert app.get("/me").status == 200
    assert done(stack, "open", user, "--for", app.user_id, "--confirm") == "opened; apple signs in to it\n"
    process_table.wait_until(lambda: app.get("/me").status == 401, 2, "the end of the session")
    answer = json.loads(done(stack, "open", user, "--for", app.user_id, "--confirm", "--json"))
    assert answer == {"providers": ["apple"], "was_open": True}
    back = App(stack, app.person)
    assert back.sign_in()["user_id"] == user
    expect_old_account(back, person, user, group)
    assert stack.sql(OPENED.format(user)).split("\n") == ["account_opening operator", "account_opened operator"]
    native = account(stack, "open", user, "--for", back.user_id, "--confirm")
    assert native.returncode == 1 and "ACCOUNT_NOT_OPENABLE" in native.stderr


def test_while_invites_is_down_the_opening_waits_and_the_sign_in_is_retried(own_stack, tmp_path):
    stack = own_stack
    ((person, user),), group = imported(stack, tmp_path, 1, "away")
    app = App(stack, person)
    request = app.ask_google(claims={"phone_number": person.phone, "phone_number_verified": True})
    pid = stack.process_of("invites")
    os.kill(pid, signal.SIGSTOP)
    try:
        for _ in range(2):
            app.present("google", request).problem(503, "ACCOUNT_HELD")
    finally:
        os.kill(pid, signal.SIGCONT)
    process_table.wait_until(lambda: app.present("google", request).status == 200, 60, "the opening")
    assert app.user_id == user
    expect_old_account(app, person, user, group)
