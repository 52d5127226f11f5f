"""The drivers' app on a bad day: lost answers, tokens that were refused, a provider that is down."""

import pytest

import process_table
from drivers_app import DECODER, DriversApp
from elapsed import credentials_older_by_two_minutes
from phone import BARE, Phone


@pytest.fixture
def decoder(compiled):
    return compiled(DECODER)


@pytest.mark.parametrize("part", [0.0, 0.5], ids=["nothing came", "half of it came"])
def test_lost_answers_to_a_sign_in(phone, decoder, bad_network, stack, part):
    """Three tries, a second apart, with the same identity token: one session."""
    network = bad_network(phone)
    app = DriversApp(phone, decoder, network.address)
    network.lose_next(2, part)
    app.sign_in()
    assert (app.tries, network.answered) == (3, 3)
    assert stack.sql(f"SELECT count(*) FROM identity.sessions WHERE user_id = '{app.claims['sub']}';") == "1"
    app.get("/me").expect(200)


def test_three_lost_answers(phone, decoder, bad_network):
    """The app gives up; the driver taps again, with a new identity token."""
    network = bad_network(phone)
    app = DriversApp(phone, decoder, network.address)
    network.lose_next(3)
    with pytest.raises(Exception):
        app.sign_in()
    app.sign_in()
    # Apple told the name with the first token only, whose answers were lost: it was kept.
    assert app.sign_in()["name"] == phone.person.name


def test_a_lost_answer_to_a_refresh(phone, decoder, bad_network):
    network = bad_network(phone)
    app = DriversApp(phone, decoder, network.address)
    app.sign_in()
    session_id = app.session_id
    network.lose_next(2, 0.5)
    assert app.refresh() is True and app.session_id == session_id


def test_the_same_identity_token_later(phone, decoder):
    app = DriversApp(phone, decoder)
    body = app.body(*phone.apple_with_nonce())
    app.sign_in(body)
    session_id = app.session_id
    app.sign_in(body)
    assert app.session_id == session_id
    credentials_older_by_two_minutes(phone.stack)
    expect_refusal(app.post_sign_in(body))
    # The session that it bought stays.
    app.get("/me").expect(200)


def expect_refusal(answer, status=401):
    """What the app shows is a failure: no 200, no token, `success` false."""
    assert answer.status == status, answer.content
    assert answer.json["success"] is False and not answer.json.get("token")


REFUSED = {
    "expired": dict(issued_in=-200_000, expires_in=3600),
    "of the future": dict(issued_in=3600),
    "another app's": dict(audience="com.example.other"),
    "another issuer's": dict(issuer="https://appleid.apple.com.evil.example"),
    "unsigned": dict(algorithm="none"),
    "signed with the public key as a secret": dict(algorithm="HS256"),
    "signed by a stranger": dict(signing_key="foreign"),
    "signed with an unknown key": dict(signing_key="unknown"),
    "of another nonce": dict(claims={"nonce": "another"}),
    "without the nonce": dict(omit=["nonce"]),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_identity_tokens_that_are_refused(phone, decoder, fault):
    app = DriversApp(phone, decoder)
    expect_refusal(app.post_sign_in(app.body(*phone.apple_with_nonce(**REFUSED[fault]))))
    # It left nothing behind, and nobody is kept out by it.
    assert app.sign_in()["success"] is True


def test_a_nonce_that_does_not_prove_the_token(phone, decoder):
    app = DriversApp(phone, decoder)
    credential, raw = phone.apple_with_nonce()
    for nonce in ("another", "", None):
        expect_refusal(app.post_sign_in(app.body(credential, raw) | {"nonce": nonce}))
    # Apple was given the nonce itself instead of its hash.
    expect_refusal(app.post_sign_in(app.body(phone.apple("com.example.app", raw), raw)))


def test_an_identifier_that_the_token_does_not_name(phone, decoder, new_phone):
    app = DriversApp(phone, decoder)
    other, _ = new_phone().apple_with_nonce()
    credential, raw = phone.apple_with_nonce()
    expect_refusal(app.post_sign_in(app.body(credential, raw) | {"userIdentifier": other.user}))
    app.sign_in(app.body(credential, raw))


def test_bodies_that_make_no_sense(phone, decoder):
    app = DriversApp(phone, decoder)
    for body in ({}, {"identity_token": ""}, {"identity_token": 7, "nonce": "n"}, {"identity_token": None, "nonce": None}):
        answer = app.post_sign_in(body)
        assert answer.status in (400, 401, 422) and answer.json["success"] is False, answer.content


def test_apple_down_at_the_first_sign_in(parts, without_keys, decoder):
    """No keys: the driver can't get in, and the name that Apple told with this very try is known at the next one."""
    app = DriversApp(Phone(parts.stack), decoder)
    credential, raw = app.phone.apple_with_nonce()
    assert credential.full_name == app.phone.person.name
    bring_back = without_keys("apple")
    answer = app.post_sign_in(app.body(credential, raw))
    assert answer.status == 503 and answer.json["success"] is False, answer.content
    bring_back()
    # The same token again, as the app's next try sends it, but nobody tells the name any more.
    retry = app.body(credential, raw) | {"name": None, "email": None}
    process_table.wait_until(lambda: app.post_sign_in(retry).status == 200, 60, "a sign-in with keys")
    assert app.sign_in(retry)["name"] == app.phone.person.name


def test_a_name_told_with_a_token_that_was_never_good(phone, decoder, stack):
    """Nobody is named by a stranger: what came with a refused token is not seen at the next sign-in."""
    app = DriversApp(phone, decoder)
    stack.confidential.add("Xochiquetzal")
    refused = app.body(*phone.apple_with_nonce(signing_key="foreign")) | {"name": "Xochiquetzal"}
    expect_refusal(app.post_sign_in(refused))
    credential, raw = phone.apple_with_nonce()
    assert app.sign_in(app.body(credential, raw) | {"name": None})["name"] != "Xochiquetzal"


def test_an_audience_with_another_rule(phone, decoder):
    """`com.example.bare` gives its apps no nonce: the same path serves it by its own rule."""
    app = DriversApp(phone, decoder)
    credential = phone.apple(BARE)
    body = app.body(credential, None)
    assert app.sign_in(body)["success"] is True
    # A token that carries a nonce must be proven by it, or leaving the nonce out would be a way round.
    with_nonce, _ = phone.apple_with_nonce(BARE)
    expect_refusal(app.post_sign_in(app.body(with_nonce, None)))
