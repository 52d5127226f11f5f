"""Credentials of passkeys that are refused: with each fault, for another challenge, of another account, used before, and changed anywhere."""

import concurrent.futures
import json
import random
import secrets
import uuid

import pytest
from fido2.utils import websafe_decode

from credential_mutations import essence, mutated
from soft_authenticator import ALGORITHMS, FLAG, SYNCED, Key, SoftAuthenticator
from test_passkeys import new_phone, phone, providers, stack  # noqa: F401

# So that a failure can be had again.
SEED = 20261128
SIGN_IN_MUTATIONS, REGISTRATION_MUTATIONS = 1500, 500
# Each credential is changed so many times before another one is made.
BATCH = 50

FAULTS = {
    "of another site": lambda: dict(origin="https://evil.example"),
    "of a site below": lambda: dict(origin="https://app.example.com.evil.example"),
    "for another RP": lambda: dict(rp_id="evil.example"), "of a forged challenge": lambda: dict(challenge=secrets.token_bytes(64)),
    "without a gesture": lambda: dict(flags=SYNCED & ~FLAG.UP), "of a user who was not verified": lambda: dict(flags=SYNCED & ~FLAG.UV)}
SIGN_IN_FAULTS = FAULTS | {
    "of a registration": lambda: dict(kind="webauthn.create"), "signed by another key": lambda: dict(key=Key("ES256")),
    "without a user handle": lambda: dict(user_handle=None)}
REGISTRATION_FAULTS = FAULTS | {"of a sign-in": lambda: dict(kind="webauthn.get")}


@pytest.mark.parametrize("fault", SIGN_IN_FAULTS)
def test_a_sign_in_is_refused(phone, fault):
    phone.register()
    other, options = phone.other(), phone.challenge()
    other.enter(phone.authenticator.get(options, **SIGN_IN_FAULTS[fault]())).problem(401, "PASSKEY_INVALID")
    assert len(phone.get("/auth/sessions").expect(200)["sessions"]) == 1
    other.enter(phone.authenticator.get(options)).expect(200)


@pytest.mark.parametrize("fault", REGISTRATION_FAULTS)
def test_a_registration_is_refused(phone, fault):
    options = phone.registration()
    phone.add(phone.authenticator.create(options, **REGISTRATION_FAULTS[fault]())).problem(400, "PASSKEY_REJECTED")
    assert phone.passkeys() == [] and providers(phone) == ["apple"]
    phone.add(phone.authenticator.create(options)).expect(200)


def test_a_challenge_is_good_for_its_own_ceremony_and_session(phone, new_phone):
    phone.register()
    registration, sign_in = (websafe_decode(json.loads(text)["challenge"]) for text in (phone.registration(), phone.challenge()))
    phone.other().enter(phone.assertion(challenge=registration)).problem(401, "PASSKEY_INVALID")
    changed = sign_in[:-1] + bytes([sign_in[-1] ^ 1])
    phone.other().enter(phone.assertion(challenge=changed)).problem(401, "PASSKEY_INVALID")
    again, stranger = new_phone(person=phone.person), new_phone()
    assert again.user_id == phone.user_id
    for app, challenge in ((phone, sign_in), (again, registration), (stranger, registration)):
        app.add(SoftAuthenticator().create(app.registration(), challenge=challenge)).problem(400, "PASSKEY_REJECTED")
    assert len(phone.passkeys()) == 1 and stranger.passkeys() == []


def test_two_accounts_have_no_credential_in_common(phone, new_phone):
    made = phone.register()
    (passkey,) = phone.authenticator.passkeys
    stranger = new_phone()
    for key in (passkey.key, Key("ES256")):
        stranger.add(stranger.authenticator.create(
            stranger.registration(), credential_id=passkey.credential_id, key=key)).problem(409, "PASSKEY_TAKEN")
    assert stranger.passkeys() == [] and phone.passkeys() == [made]
    stranger.register()
    # A user handle of the other account, on either's passkey: that account has no such passkey.
    stranger.enter(stranger.assertion(user_handle=passkey.user_handle)).problem(401, "PASSKEY_UNKNOWN")
    phone.other().enter(phone.assertion(user_handle=uuid.UUID(stranger.user_id).bytes)).problem(401, "PASSKEY_UNKNOWN")
    assert phone.other().sign_in_by_passkey()["user_id"] == phone.user_id


def test_two_passkeys_that_answer_one_challenge_open_a_session_each(phone, new_phone):
    """A challenge names nobody: an answer to another user's must not find the session that the other one's opened."""
    thief = new_phone()
    phone.register()
    thief.register()
    options = phone.challenge()
    opened = phone.other().enter(phone.authenticator.get(options)).expect(200)
    found = thief.other().enter(thief.authenticator.get(options)).expect(200)
    assert (opened["user_id"], found["user_id"]) == (phone.user_id, thief.user_id)
    assert found["session_id"] != opened["session_id"]


def test_a_passkey_that_nobody_registered(phone):
    phone.authenticator.create(phone.registration())
    phone.other().enter(phone.assertion()).problem(401, "PASSKEY_UNKNOWN")


def test_a_replay_after_the_session_has_moved_on(phone):
    phone.register()
    owner, entry = phone.other(), phone.assertion()
    owner.enter(entry).expect(200)
    owner.refresh().expect(200)
    phone.other().enter(entry).problem(401, "TOKEN_REPLAYED")
    owner.get("/me").expect(200)


def test_a_replay_after_a_minute(stack, phone):
    phone.register()
    owner, entry = phone.other(), phone.assertion()
    session = owner.enter(entry).expect(200)["session_id"]
    moved = stack.sql(f"""
        UPDATE identity.sign_ins SET created_at = created_at - interval '61 seconds' WHERE session_id = '{session}' RETURNING 1;""")
    assert moved == "1"
    phone.other().enter(entry).problem(401, "TOKEN_REPLAYED")
    owner.get("/me").expect(200)


def test_a_deleted_account_has_no_passkeys(phone):
    phone.register()
    phone.delete()
    phone.other().enter(phone.assertion()).problem(401, "PASSKEY_UNKNOWN")


MALFORMED = ["x", "{", "{}", "[]", "null", "7", '{"id": "AA", "rawId": "AA", "type": "public-key"}']


@pytest.mark.parametrize("credential", MALFORMED)
def test_texts_that_are_no_credentials(phone, credential):
    for answer in (phone.enter(credential), phone.add(credential)):
        answer.problem(422, "PASSKEY_MALFORMED", fields=[("credential", "PASSKEY_MALFORMED")])


def send_mutations(count, chance, good, other, send):
    """Sends `count` changed texts; returns those that were accepted, with the answers."""
    texts = [mutated(chance, good, other) for _ in range(count)]
    with concurrent.futures.ThreadPoolExecutor(4) as many:
        answers = list(many.map(send, texts))
    for text, answer in zip(texts, answers):
        assert answer.status < 500, (answer, text)
    return [(text, answer) for text, answer in zip(texts, answers) if answer.status == 200]


def test_mutations_of_a_sign_in_open_nothing(new_phone):
    """Before the good one is sent, so that each challenge can still be used."""
    chance = random.Random(SEED)
    phones = [new_phone(SoftAuthenticator(algorithm)) for algorithm in ALGORITHMS]
    for phone in phones:
        phone.register()
    for number in range(SIGN_IN_MUTATIONS // BATCH):
        phone = phones[number % len(phones)]
        good, other = phone.assertion(), phones[(number + 1) % len(phones)].assertion()
        for text, _ in send_mutations(BATCH, chance, good, other, phone.other().enter):
            assert essence(text) == essence(good), (SEED, number, text)
        assert phone.other().enter(good).expect(200)["user_id"] == phone.user_id


def test_mutations_of_a_registration_add_nothing(new_phone):
    """After the good one was sent, since no attestation signs what a passkey says of itself."""
    chance = random.Random(SEED + 1)
    authenticators = {algorithm: SoftAuthenticator(algorithm) for algorithm in ALGORITHMS}
    for number in range(REGISTRATION_MUTATIONS // BATCH):
        phone = new_phone(authenticators[sorted(ALGORITHMS)[number % len(ALGORITHMS)]])
        good = phone.authenticator.create(phone.registration())
        other = SoftAuthenticator().create(phone.registration())
        made = phone.add(good).expect(200)
        for text, answer in send_mutations(BATCH, chance, good, other, phone.add):
            assert answer.json == made, (SEED, number, text)
        assert phone.passkeys() == [made]
        assert phone.other().sign_in_by_passkey()["user_id"] == phone.user_id
