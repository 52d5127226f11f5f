"""What a session may do by how recent its sign-in is and how it was proven: one table, one error that says what would be enough (RFC 9470),
and what tokens say of it."""

import time

import pytest
from google.rpc import error_details_pb2

import tokens
from app_clients import Refused, client_of
from guests import new_guest
from passkey_phone import Phone
from test_group_management import friend, party  # noqa: F401
from test_linking import age, bare_apple

ACR = "urn:vestibule:acr:"
ENOUGH = [ACR + "provider", ACR + "passkey"]


def bare(new_app):
    """An app whose session was proven by a token alone."""
    app = new_app()
    app.present("apple", {"identity_token": bare_apple(app)["identity_token"]}).expect(200)
    return app


def acr(app):
    """What the access token and the ID token say; they agree."""
    of_access = tokens.parts(app.access_token)[1]
    assert 0 <= time.time() - of_access["auth_time"] < 60
    if app.session.get("id_token"):
        of_id = tokens.parts(app.session["id_token"])[1]
        assert (of_id["acr"], of_id["auth_time"]) == (of_access["acr"], of_access["auth_time"])
    return of_access["acr"]


def test_tokens_say_how_the_sign_in_was_proven(stack, new_app):
    app = new_app()
    app.sign_in()
    assert acr(app) == ACR + "provider"
    signed_in = tokens.parts(app.access_token)[1]["auth_time"]
    app.refresh().expect(200)
    refreshed = tokens.parts(app.access_token)[1]
    assert (refreshed["acr"], refreshed["auth_time"]) == (ACR + "provider", signed_in), "a refresh is no sign-in"
    assert acr(bare(new_app)) == ACR + "unproven"
    phone = Phone(stack)
    phone.sign_in()
    phone.register()
    phone.sign_in_by_passkey()
    assert acr(phone) == ACR + "passkey"
    assert tokens.parts(new_guest(stack)["access_token"])[1]["acr"] == ACR + "guest"


def test_a_group_is_handed_over_by_a_recent_proven_sign_in_alone(stack, member, party):  # noqa: F811
    group, _, friend_id, _ = party
    member.gateway.patch(f"/groups/{group}/members/{friend_id}", {"role": "admin"}, token=member.access_token).expect(200)
    age(stack, member, 700)
    refused = member.post(f"/groups/{group}/owner", {"member_id": friend_id})
    body = refused.problem(403, "RECENT_SIGN_IN_REQUIRED")
    assert (body["acr_values"], body["max_age"]) == (ENOUGH, 600)
    assert member.get(f"/groups/{group}").expect(200)["role"] == "owner"
    # What the gateway keeps of the token is good for all else.
    member.get("/me").expect(200)
    for way in ("grpc", "connect-json-http1", "grpc-web-http1"):
        with client_of(stack.addresses["gateway"], way) as api, pytest.raises(Refused) as rpc:
            api.call("GroupService/HandOverGroup", member.access_token, group_id=group, member_id=friend_id)
        info = error_details_pb2.ErrorInfo.FromString(rpc.value.details["google.rpc.ErrorInfo"])
        assert info.reason == "RECENT_SIGN_IN_REQUIRED"
        assert dict(info.metadata) == {"acr_values": " ".join(ENOUGH), "max_age": "600"}
    member.sign_in()
    member.post(f"/groups/{group}/owner", {"member_id": friend_id}).expect(200)


def test_a_weak_proof_hands_nothing_over(new_app):
    weak = bare(new_app)
    weak.complete()
    group = weak.create_group()
    body = weak.post(f"/groups/{group}/owner", {"member_id": "019a0000-0000-7000-8000-000000000000"}).problem(403, "PROOF_REQUIRED")
    assert body["acr_values"] == ENOUGH


def test_each_act_says_the_same(stack, new_app):
    phone = Phone(stack)
    phone.sign_in()
    age(stack, phone, 700)
    link = phone.ask_google()
    told = [
        phone.post("/auth/identities/google", link), phone.gateway.send("DELETE", "/auth/identities/apple", token=phone.access_token),
        phone.post("/auth/passkeys/challenge"), phone.post("/auth/recovery-codes"),
        phone.gateway.send("DELETE", "/me", token=phone.access_token)]
    for answer in told:
        body = answer.problem(403, "RECENT_SIGN_IN_REQUIRED")
        assert (body["acr_values"], body["max_age"]) == (ENOUGH, 600)
    # Credentials that prove too little are no question of the session.
    fresh = new_app()
    fresh.sign_in("google")
    weak = fresh.post("/auth/identities/apple", {"identity_token": bare_apple(fresh)["identity_token"]})
    assert "acr_values" not in weak.problem(403, "PROOF_REQUIRED") and "WWW-Authenticate" not in weak.headers


def test_unknown_tokens_and_other_refusals_name_no_step_up(gateway):
    answer = gateway.post("/groups/019a0000-0000-7000-8000-000000000000/owner", {"member_id": "x"}, token="nonsense")
    answer.problem(401, "ACCESS_TOKEN_INVALID")
    assert "insufficient_user_authentication" not in answer.headers["WWW-Authenticate"]
