"""Passkeys from outside: registered, used on another phone, listed, named and removed, and who may not.

`soft_authenticator.py` is the phone's part, and `test_passkey_refusals.py` tests the credentials that are refused."""

import concurrent.futures
import json
import re
import uuid

import pytest
import webauthn.helpers
from fido2 import webauthn as fido

from app import App
from guests import new_guest
from passkey_phone import ANDROID_ORIGIN, RELATED_ORIGIN, RP_ID, SETTINGS, Phone
from process_table import wait_until
from soft_authenticator import ALGORITHMS, FLAG, Excluded, SoftAuthenticator
from stack import new_stack
from test_linking import age, bare_apple, link_google, unlink
from test_operators import done

MEMBERS = {"id", "name", "created_at", "last_used_at", "backed_up"}
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
PASSKEYS_MAX = 20


@pytest.fixture(scope="module")
def stack():
    """A stack with passkeys, since they are off by default."""
    with new_stack(
            VESTIBULE_LOG_LEVEL="trace", VESTIBULE_GATEWAY_AUTH_PER_SECOND="1000000", VESTIBULE_GATEWAY_AUTH_BURST="1000000",
            **SETTINGS) as stack:
        stack.start()
        yield stack
        assert stack.stop() == 0, stack.output
        stack.expect_no_confidences()


@pytest.fixture
def new_phone(stack):
    """Makes the phone of a new person who has signed in with Apple."""
    def make(authenticator=None, person=None):
        phone = Phone(stack, person, authenticator)
        phone.sign_in()
        return phone

    return make


@pytest.fixture
def phone(new_phone):
    return new_phone()


def providers(app):
    return [identity["provider"] for identity in app.get("/auth/identities").expect(200)["identities"]]


# Registering and signing in

@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_passkey_signs_in_on_another_phone(stack, new_phone, algorithm):
    phone = new_phone(SoftAuthenticator(algorithm))
    phone.complete()
    made = phone.register("Blue phone")
    assert set(made) == MEMBERS and uuid.UUID(made["id"]) and MOMENT.fullmatch(made["created_at"])
    assert (made["name"], made["last_used_at"], made["backed_up"]) == ("Blue phone", None, True)
    assert providers(phone) == ["apple", "passkey"]
    other = phone.other()
    session = other.sign_in_by_passkey(device_name="Red phone")
    assert session["user_id"] == phone.user_id and session["session_id"] != phone.session["session_id"]
    assert not session["is_new_user"] and session["missing_fields"] == []
    assert other.get("/me").expect(200) == phone.get("/me").expect(200)
    assert "Red phone" in [each["device_name"] for each in phone.get("/auth/sessions").expect(200)["sessions"]]
    (used,) = other.passkeys()
    assert MOMENT.fullmatch(used["last_used_at"]) and used["last_used_at"] >= used["created_at"]
    assert stack.sql(f"SELECT proof FROM identity.sessions WHERE session_id = '{session['session_id']}'") == "passkey"
    other.refresh().expect(200)


def test_options_of_a_registration(phone):
    phone.register()
    (passkey,) = phone.authenticator.passkeys
    text = phone.registration()
    read = webauthn.helpers.parse_registration_options_json(text)
    assert (read.rp.id, read.rp.name) == (RP_ID, "Example")
    assert read.user.id == uuid.UUID(phone.user_id).bytes and len(read.challenge) >= 16
    assert {param.alg for param in read.pub_key_cred_params} >= {-7, -8, -257}
    assert [each.id for each in read.exclude_credentials] == [passkey.credential_id]
    assert read.authenticator_selection.resident_key == "required" and read.authenticator_selection.user_verification == "required"
    also = fido.PublicKeyCredentialCreationOptions.from_dict(json.loads(text))
    assert (also.rp.id, also.rp.name, also.user.id, also.challenge) == (RP_ID, "Example", read.user.id, read.challenge)
    assert [each.id for each in also.exclude_credentials] == [passkey.credential_id]
    assert [each.alg for each in also.pub_key_cred_params] == [each.alg for each in read.pub_key_cred_params]
    assert phone.registration() != text, "each has a challenge of its own"
    with pytest.raises(Excluded):
        phone.authenticator.create(text)


def test_options_of_a_sign_in(phone):
    text = phone.challenge()
    read = webauthn.helpers.parse_authentication_options_json(text)
    assert (read.rp_id, read.allow_credentials, read.user_verification) == (RP_ID, [], "required") and len(read.challenge) >= 16
    also = fido.PublicKeyCredentialRequestOptions.from_dict(json.loads(text))
    assert (also.rp_id, also.challenge, list(also.allow_credentials)) == (RP_ID, read.challenge, [])
    assert phone.challenge() != text, "each has a challenge of its own"


def test_a_lost_response_is_repeated(phone):
    credential = phone.authenticator.create(phone.registration())
    first = phone.add(credential).expect(200)
    assert phone.add(credential).expect(200) == first and phone.passkeys() == [first]
    entry = phone.assertion()
    with concurrent.futures.ThreadPoolExecutor(4) as many:
        sessions = list(many.map(lambda _: phone.other().enter(entry).expect(200), range(4)))
    assert len({(each["session_id"], each["refresh_token"]) for each in sessions}) == 1
    assert len(phone.get("/auth/sessions").expect(200)["sessions"]) == 2


def test_every_origin_of_the_settings(new_phone):
    for origin in (RELATED_ORIGIN, ANDROID_ORIGIN):
        phone = new_phone(SoftAuthenticator(origin=origin))
        phone.register()
        assert phone.other().sign_in_by_passkey()["user_id"] == phone.user_id


def test_a_counter_that_goes_back_is_no_reason(phone):
    phone.register()
    for counter in (7, 8, 3, 3, 0):
        phone.other().enter(phone.assertion(counter=counter)).expect(200)


def test_the_session_counts_as_proven(stack, phone):
    phone.register()
    other = phone.other()
    other.sign_in_by_passkey()
    link_google(other).expect(200)
    other.register(on=SoftAuthenticator())
    assert providers(other) == ["apple", "passkey", "google"]
    assert unlink(other, "google").status == 204
    other.delete()
    phone.other().enter(phone.assertion()).problem(401, "PASSKEY_UNKNOWN")


def test_by_connect(stack, phone):
    def call(method, token=None, status=200, **body):
        return phone.gateway.post(f"/vestibule.app.v1.AuthService/{method}", body, token=token).expect(status)

    token = phone.access_token
    credential = phone.authenticator.create(call("CreatePasskeyRegistration", token)["options"])
    assert call("AddPasskey", token, credential=credential, name="Blue phone")
    (listed,) = call("ListPasskeys", token)["passkeys"]
    assert listed["name"] == "Blue phone" and phone.passkeys()[0]["id"] == listed["passkeyId"]
    call("RenamePasskey", token, passkeyId=listed["passkeyId"], name="Red phone")
    entry = phone.authenticator.get(call("CreatePasskeyChallenge")["options"])
    opened = call("SignInWithPasskey", credential=entry, deviceName="Red phone")["tokens"]
    stack.confidential |= {opened["accessToken"], opened["refreshToken"]}
    assert opened["userId"] == phone.user_id
    # The same credential by the route is the same sign-in.
    assert phone.other().enter(entry).expect(200)["session_id"] == opened["sessionId"]
    assert call("SignInWithPasskey", status=401, credential=phone.assertion(user_handle=None))["code"] == "unauthenticated"
    call("RemovePasskey", token, passkeyId=listed["passkeyId"])
    assert phone.passkeys() == []


# Listing, naming and removing

def test_passkeys_are_listed_named_and_removed(phone, new_phone):
    tablet = SoftAuthenticator()
    first, second = phone.register("Blue phone"), phone.register(None, on=tablet)
    assert second["name"] is None and phone.passkeys() == [first, second]
    assert phone.rename(second["id"], "Red phone").expect(200) == second | {"name": "Red phone"}
    stranger = new_phone()
    for unknown in (stranger.rename(first["id"], "Mine"), stranger.remove(first["id"]),
                    phone.rename(str(uuid.uuid4()), "None"), phone.remove(str(uuid.uuid4()))):
        unknown.problem(404, "PASSKEY_NOT_FOUND")
    assert phone.passkeys() == [first, second | {"name": "Red phone"}] and stranger.passkeys() == []
    assert phone.remove(first["id"]).status == 204
    assert [each["id"] for each in phone.passkeys()] == [second["id"]]
    phone.other().enter(phone.assertion()).problem(401, "PASSKEY_UNKNOWN")
    phone.other().sign_in_by_passkey(tablet.passkeys[0])
    assert phone.remove(second["id"]).status == 204 and providers(phone) == ["apple"]


@pytest.mark.parametrize("by", ["apple", "passkey", "itself"])
def test_a_removal_ends_the_sessions_that_the_passkey_opened(phone, by):
    tablet = SoftAuthenticator()
    phone.register()
    second = phone.register(on=tablet)
    here, there = phone.other(), phone.other()
    here.sign_in_by_passkey()
    there.sign_in_by_passkey(tablet.passkeys[0])
    caller = {"apple": phone, "passkey": here, "itself": there}[by]
    assert caller.remove(second["id"]).status == 204
    there.get("/me").problem(401, "SESSION_REVOKED")
    there.gateway.post("/auth/refresh", {"refresh_token": there.refresh_token}).problem(401, "SESSION_REVOKED")
    here.get("/me").expect(200)
    phone.get("/me").expect(200)
    there.enter(phone.assertion(tablet.passkeys[0])).problem(401, "PASSKEY_UNKNOWN")
    here.sign_in_by_passkey()


def test_a_passkey_of_today_removes_no_older_passkey(phone):
    first, tablet = phone.register(), SoftAuthenticator()
    phone.register(on=tablet)
    there = phone.other()
    there.sign_in_by_passkey(tablet.passkeys[0])
    there.remove(first["id"]).problem(403, "PROVIDER_LINKED_TOO_RECENTLY")
    assert phone.passkeys()[0] == first


def test_all_passkeys_are_unlinked_at_once(phone):
    tablet = SoftAuthenticator()
    phone.register()
    phone.register(on=tablet)
    other = phone.other()
    other.sign_in_by_passkey()
    assert unlink(phone, "passkey").status == 204
    other.get("/me").problem(401, "SESSION_REVOKED")
    assert phone.passkeys() == [] and providers(phone) == ["apple"]
    for passkey in phone.authenticator.passkeys + tablet.passkeys:
        phone.other().enter(phone.assertion(passkey)).problem(401, "PASSKEY_UNKNOWN")


def test_the_last_way_in_stays(phone):
    first = phone.register()
    other = phone.other()
    other.sign_in_by_passkey()
    # An account that began today can change its provider.
    assert unlink(phone, "apple").status == 204
    second = other.register(on=SoftAuthenticator())
    assert other.remove(second["id"]).status == 204
    other.remove(first["id"]).problem(409, "LAST_PROVIDER")
    unlink(other, "passkey").problem(409, "LAST_PROVIDER")
    assert [each["id"] for each in other.passkeys()] == [first["id"]]
    phone.other().sign_in_by_passkey()


def test_a_passkey_of_today_removes_no_older_provider(stack, phone):
    age(stack, phone, 40 * 86_400)
    phone.sign_in()
    phone.register()
    other = phone.other()
    other.sign_in_by_passkey()
    for way_in in (other, phone):
        answer = unlink(way_in, "apple")
        answer.problem(403, "PROVIDER_LINKED_TOO_RECENTLY")
        assert 86_000 < int(answer.headers["Retry-After"]) <= 86_400
    assert providers(phone) == ["apple", "passkey"]


def test_a_passkey_of_another_domain_is_no_way_in(stack, phone):
    phone.register()
    moved = stack.sql(f"UPDATE identity.passkeys SET rp_id = 'old.example' WHERE subject = '{phone.user_id}' RETURNING 1")
    assert moved == "1"
    phone.other().enter(phone.assertion()).problem(401, "PASSKEY_UNKNOWN")
    unlink(phone, "apple").problem(409, "LAST_PROVIDER")
    phone.register(on=SoftAuthenticator())
    assert unlink(phone, "apple").status == 204


def test_passkeys_that_a_merge_brought_are_of_that_day(stack, phone):
    """Else somebody who has the session for a moment could merge an old account of theirs, and remove all older ways in by its passkey."""
    age(stack, phone, 40 * 86_400)
    stack.sql(f"UPDATE identity.accounts SET created_at = created_at - interval '40 days' WHERE user_id = '{phone.user_id}'")
    phone.sign_in()
    thief = Phone(stack)
    thief.sign_in("google")
    thief.register()
    second = thief.register(on=SoftAuthenticator())
    for table, where in (("provider_identities", f"user_id = '{thief.user_id}'"), ("passkeys", f"subject = '{thief.user_id}'")):
        stack.sql(f"UPDATE identity.{table} SET created_at = created_at - interval '30 days' WHERE {where}")
    options = phone.registration()
    phone.post("/auth/identities/google", thief.ask_google()).expect(200)
    wait_until(lambda: stack.sql(f"SELECT count(*) FROM identity.accounts WHERE user_id = '{thief.user_id}'") == "0", 20, "the merge")
    other = thief.other()
    assert other.enter(thief.assertion(thief.authenticator.passkeys[0])).expect(200)["user_id"] == phone.user_id
    unlink(other, "apple").problem(403, "PROVIDER_LINKED_TOO_RECENTLY")
    assert other.remove(second["id"]).status == 204
    unlink(other, "apple").problem(403, "PROVIDER_LINKED_TOO_RECENTLY")
    # Its options named the user handle of before.
    phone.add(SoftAuthenticator().create(options)).problem(400, "PASSKEY_REJECTED")


def test_a_provider_of_today_removes_no_older_passkey(stack, phone):
    made = phone.register()
    link_google(phone).expect(200)
    android = App(stack, phone.person)
    assert android.sign_in("google")["user_id"] == phone.user_id
    android.gateway.send("DELETE", f"/auth/passkeys/{made['id']}", token=android.access_token).problem(
        403, "PROVIDER_LINKED_TOO_RECENTLY")
    unlink(android, "passkey").problem(403, "PROVIDER_LINKED_TOO_RECENTLY")
    assert phone.passkeys() == [made]


# Who may not

def test_an_old_sign_in_adds_and_removes_nothing(stack, phone):
    made = phone.register()
    options = phone.registration()
    age(stack, phone, 11 * 60)
    phone.refresh().expect(200)
    for refused in (phone.post("/auth/passkeys/challenge"), phone.add(SoftAuthenticator().create(options)),
                    phone.remove(made["id"])):
        refused.problem(403, "RECENT_SIGN_IN_REQUIRED")
    assert phone.rename(made["id"], "Red phone").expect(200) == phone.passkeys()[0]
    assert len(phone.passkeys()) == 1


def test_a_session_by_a_token_alone_adds_nothing(stack):
    weak = Phone(stack)
    weak.present("apple", {"identity_token": bare_apple(weak)["identity_token"]}).expect(200)
    weak.post("/auth/passkeys/challenge").problem(403, "PROOF_REQUIRED")
    assert weak.passkeys() == []


def test_a_guest_adds_nothing(stack):
    guest = Phone(stack)
    guest.session, guest.members_left_out = new_guest(stack), {"id_token"}
    guest.post("/auth/passkeys/challenge").problem(403, "GUEST_NOT_ALLOWED")


def test_a_blocked_account_is_not_opened(stack, phone):
    phone.register()
    done(stack, "block", phone.user_id, "--reason", "abuse", "--confirm")
    phone.other().enter(phone.assertion()).problem(403, "ACCOUNT_BLOCKED")


def test_an_account_has_so_many_passkeys_at_most(phone):
    for _ in range(PASSKEYS_MAX - 1):
        phone.register(on=SoftAuthenticator())
    # Two that were begun while there was room for one.
    first, second = [SoftAuthenticator().create(phone.registration()) for _ in range(2)]
    phone.add(first).expect(200)
    phone.add(second).problem(400, "TOO_MANY_PASSKEYS")
    phone.post("/auth/passkeys/challenge").problem(400, "TOO_MANY_PASSKEYS")
    assert len(phone.passkeys()) == PASSKEYS_MAX


def test_passkeys_are_off_by_default():
    with new_stack() as stack:
        stack.start()
        phone = Phone(stack)
        phone.sign_in()
        for answer in (phone.gateway.post("/auth/passkey/challenge"), phone.enter("{}"), phone.post("/auth/passkeys/challenge"),
                       phone.add("{}")):
            answer.problem(400, "PASSKEYS_NOT_ENABLED")
        assert providers(phone) == ["apple"]


def test_defaults_and_authenticators_that_verify_nobody():
    with new_stack(VESTIBULE_IDENTITY_PASSKEY_RP_ID=RP_ID, VESTIBULE_IDENTITY_PASSKEY_USER_VERIFICATION="preferred") as stack:
        stack.start()
        phone = Phone(stack, authenticator=SoftAuthenticator(origin=f"https://{RP_ID}", flags=FLAG.UP))
        phone.sign_in()
        read = webauthn.helpers.parse_registration_options_json(phone.registration())
        assert (read.rp.name, read.authenticator_selection.user_verification) == (RP_ID, "preferred")
        assert phone.register()["backed_up"] is False
        assert phone.other().sign_in_by_passkey()["user_id"] == phone.user_id
        phone.other().enter(phone.assertion(origin=f"https://app.{RP_ID}")).problem(401, "PASSKEY_INVALID")
