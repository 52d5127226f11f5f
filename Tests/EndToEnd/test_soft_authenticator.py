"""The passkeys of the tests are good and their faults are faults, by a verifier that others made: the package `webauthn`."""

import json
import random
import secrets

import pytest
import webauthn
from webauthn.helpers import exceptions, structs

from credential_mutations import essence, mutated
from soft_authenticator import ALGORITHMS, FLAG, ORIGIN, SYNCED, Excluded, Key, SoftAuthenticator

RP_ID = "example.com"


def creation_options(user=b"user", excluded=()):
    options = webauthn.generate_registration_options(
        rp_id=RP_ID, rp_name="Example", user_name="maria", user_id=user,
        exclude_credentials=[structs.PublicKeyCredentialDescriptor(id=each) for each in excluded])
    return options.challenge, webauthn.options_to_json(options)


def request_options(allowed=()):
    options = webauthn.generate_authentication_options(
        rp_id=RP_ID, allow_credentials=[structs.PublicKeyCredentialDescriptor(id=each) for each in allowed])
    return options.challenge, webauthn.options_to_json(options)


def judge_registration(text, challenge):
    return webauthn.verify_registration_response(
        credential=text, expected_challenge=challenge, expected_rp_id=RP_ID, expected_origin=ORIGIN, require_user_verification=True)


def judge_sign_in(text, challenge, made):
    return webauthn.verify_authentication_response(
        credential=text, expected_challenge=challenge, expected_rp_id=RP_ID, expected_origin=ORIGIN,
        credential_public_key=made.credential_public_key, credential_current_sign_count=0, require_user_verification=True)


def registered(authenticator, **options):
    challenge, text = creation_options(**options)
    return judge_registration(authenticator.create(text), challenge)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_passkey_is_good(algorithm):
    authenticator = SoftAuthenticator(algorithm)
    made = registered(authenticator, user=b"maria")
    (passkey,) = authenticator.passkeys
    assert made.credential_id == passkey.credential_id and passkey.user_handle == b"maria"
    assert made.fmt == "none" and made.credential_backed_up and made.sign_count == 0
    challenge, options = request_options()
    text = authenticator.get(options)
    judged = judge_sign_in(text, challenge, made)
    assert judged.credential_id == passkey.credential_id and judged.user_verified and judged.credential_backed_up
    assert webauthn.helpers.parse_authentication_credential_json(text).response.user_handle == b"maria"
    with pytest.raises(exceptions.InvalidAuthenticationResponse, match="signature"):
        judge_sign_in(authenticator.get(options, key=Key(algorithm)), challenge, made)


FAULTS = {
    "type": dict(kind="webauthn.other"),
    "challenge": dict(challenge=secrets.token_bytes(32)),
    "origin": dict(origin="https://app.example.com.evil.example"),
    "RP ID hash": dict(rp_id="evil.example"),
    "present": dict(flags=SYNCED & ~FLAG.UP),
    "verified": dict(flags=SYNCED & ~FLAG.UV),
}


@pytest.mark.parametrize("word", FAULTS)
def test_a_fault_is_one_and_is_signed(word):
    """A verifier refuses it for that fault, and would have found a wrong signature last."""
    authenticator = SoftAuthenticator()
    challenge, options = creation_options()
    with pytest.raises(exceptions.WebAuthnException, match=word):
        judge_registration(authenticator.create(options, **FAULTS[word]), challenge)
    made = registered(authenticator)
    challenge, options = request_options()
    with pytest.raises(exceptions.WebAuthnException, match=word):
        judge_sign_in(authenticator.get(options, **FAULTS[word]), challenge, made)


def test_what_the_options_say_is_kept():
    authenticator = SoftAuthenticator()
    first, second = registered(authenticator), registered(authenticator)
    assert first.credential_id != second.credential_id
    with pytest.raises(Excluded):
        authenticator.create(creation_options(excluded=[first.credential_id])[1])
    SoftAuthenticator().create(creation_options(excluded=[first.credential_id])[1])
    _, options = request_options(allowed=[first.credential_id])
    with pytest.raises(AssertionError, match="not allowed"):
        authenticator.get(options, authenticator.passkeys[1])
    assert json.loads(authenticator.get(options, authenticator.passkeys[0]))["id"]


def test_a_user_handle_is_changed_or_left_out():
    authenticator = SoftAuthenticator()
    registered(authenticator)
    _, options = request_options()
    assert "userHandle" not in json.loads(authenticator.get(options, user_handle=None))["response"]
    parse = webauthn.helpers.parse_authentication_credential_json
    assert parse(authenticator.get(options, user_handle=b"other")).response.user_handle == b"other"


def test_mutations_come_again_and_only_equal_ones_are_good():
    """What the verifier accepts has the same essence, so that a server is judged by that."""
    authenticator = SoftAuthenticator()
    made = registered(authenticator)
    challenge, options = request_options()
    text, other = authenticator.get(options), authenticator.get(request_options()[1])
    judge_sign_in(text, challenge, made)
    changed = [mutated(random.Random(seed), text, other) for seed in range(2000)]
    assert changed == [mutated(random.Random(seed), text, other) for seed in range(2000)]
    assert text not in changed and other not in changed
    equal = [each for each in changed if essence(each) == essence(text)]
    assert 0 < len(equal) < len(changed) / 2
    assert sum(essence(each) is None for each in changed) > 100, "texts that are no credentials"
    for each in changed:
        try:
            judged = judge_sign_in(each, challenge, made)
        except (exceptions.WebAuthnException, ValueError):
            continue
        # This verifier leaves the user handle to its caller.
        assert judged.credential_id == made.credential_id and essence(each)[2:-1] == essence(text)[2:-1], each
