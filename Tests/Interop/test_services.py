"""The real services, called by a foreign client: a sign-in from end to end.

Needs a running stack (`make run`) whose addresses are in VESTIBULE_INTEROP_IDENTITY, _PROFILE, _INVITES and
_SIMULATOR, each as host:port. Without them these tests are skipped; VESTIBULE_INTEROP_REQUIRED=1, which CI sets, makes
that an error.
"""

import hashlib
import json
import os
import random
import time
import urllib.request
import uuid

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status
from vestibule.app.v1 import group_pb2, group_pb2_grpc
from vestibule.identity.v1 import identity_pb2, identity_pb2_grpc
from vestibule.profile.v1 import profile_pb2, profile_pb2_grpc

SECONDS = 10
APPLE_AUDIENCE = "com.example.app"
NAMES = ("IDENTITY", "PROFILE", "INVITES", "SIMULATOR")
SERVICES = {
    "IDENTITY": "vestibule.identity.v1.IdentityService",
    "PROFILE": "vestibule.profile.v1.ProfileService",
    "INVITES": "vestibule.invites.v1.InvitesService",
}


@pytest.fixture(scope="module")
def addresses():
    found = {name: os.environ.get(f"VESTIBULE_INTEROP_{name}") for name in NAMES}
    missing = [f"VESTIBULE_INTEROP_{name}" for name in NAMES if not found[name]]
    if missing and os.environ.get("VESTIBULE_INTEROP_REQUIRED") == "1":
        pytest.fail(f"not set: {', '.join(missing)}")
    if missing:
        pytest.skip(f"not set: {', '.join(missing)}")
    return found


@pytest.fixture(scope="module")
def channels(addresses):
    channels = {name: grpc.insecure_channel(addresses[name]) for name in SERVICES}
    yield channels
    for channel in channels.values():
        channel.close()


@pytest.fixture(scope="module")
def identity(channels):
    return identity_pb2_grpc.IdentityServiceStub(channels["IDENTITY"])


@pytest.fixture(scope="module")
def profile(channels):
    return profile_pb2_grpc.ProfileServiceStub(channels["PROFILE"])


@pytest.fixture(scope="module")
def invites(channels):
    return group_pb2_grpc.GroupServiceStub(channels["INVITES"])


@pytest.fixture
def sign_in(addresses, identity):
    """Signs a new person in with the simulated Apple, and returns the response."""

    def sign_in():
        nonce = uuid.uuid4().hex
        apple = ask_simulator(addresses["SIMULATOR"], "/control/apple/sign-in", {
            "client_id": APPLE_AUDIENCE,
            "nonce": hashlib.sha256(nonce.encode()).hexdigest(),
            "person": {"email": f"{nonce}@example.com", "given_name": "Ana", "family_name": "Reyes"},
        })
        return identity.SignIn(identity_pb2.SignInRequest(
            provider="apple", id_token=apple["identity_token"], nonce=nonce, full_name="Ana Reyes"), timeout=SECONDS)

    return sign_in


def ask_simulator(address, path, body):
    request = urllib.request.Request(
        f"http://{address}{path}", data=json.dumps(body).encode(), headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=SECONDS) as response:
        return json.load(response)


def on_behalf(proof):
    """The metadata that a gateway adds to its calls: identity's proof of the caller, for this service."""
    return [("vestibule-caller-proof", proof)]


def new_phone():
    return f"+63917{random.randrange(10**7):07}"


def refusal(call, request, metadata=None):
    """(code, reason) of a call that must fail."""
    with pytest.raises(grpc.RpcError) as caught:
        call(request, timeout=SECONDS, metadata=metadata)
    status = rpc_status.from_call(caught.value)
    info = error_details_pb2.ErrorInfo()
    for detail in status.details if status else []:
        if detail.Unpack(info):
            assert info.domain == "vestibule"
            return caught.value.code(), info.reason
    return caught.value.code(), None


@pytest.mark.parametrize("name", SERVICES)
def test_health(channels, name):
    stub = health_pb2_grpc.HealthStub(channels[name])
    for service in ("", SERVICES[name]):
        response = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=SECONDS)
        assert response.status == health_pb2.HealthCheckResponse.SERVING
    with pytest.raises(grpc.RpcError) as caught:
        stub.Check(health_pb2.HealthCheckRequest(service="no.such.Service"), timeout=SECONDS)
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize("name", SERVICES)
def test_unknown_method(channels, name):
    with pytest.raises(grpc.RpcError) as caught:
        channels[name].unary_unary(f"/{SERVICES[name]}/NoSuchMethod")(b"", timeout=SECONDS)
    assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_session(identity, sign_in):
    response = sign_in()
    assert response.is_new_user
    assert response.suggested_display_name == "Ana Reyes"
    tokens = response.tokens

    session = identity.CheckSession(
        identity_pb2.CheckSessionRequest(access_token=tokens.access_token), timeout=SECONDS)
    assert (session.user_id, session.session_id) == (tokens.user_id, tokens.session_id)
    account = identity.GetAccount(
        identity_pb2.GetAccountRequest(), timeout=SECONDS, metadata=on_behalf(session.caller_proofs.identity)).account
    assert account.user_id == tokens.user_id
    assert [entry.provider for entry in account.identities] == ["apple"]

    refreshed = identity.Refresh(
        identity_pb2.RefreshRequest(refresh_token=tokens.refresh_token), timeout=SECONDS).tokens
    assert refreshed.session_id == tokens.session_id
    assert refreshed.refresh_token != tokens.refresh_token

    identity.SignOut(identity_pb2.SignOutRequest(refresh_token=refreshed.refresh_token), timeout=SECONDS)
    check = identity_pb2.CheckSessionRequest(access_token=refreshed.access_token)
    assert refusal(identity.CheckSession, check) == (grpc.StatusCode.UNAUTHENTICATED, "SESSION_REVOKED")


def test_refused_sign_ins(identity):
    request = identity_pb2.SignInRequest(provider="apple", id_token="not.a.token", nonce="n")
    assert refusal(identity.SignIn, request) == (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_MALFORMED")
    request.provider = "nobody"
    assert refusal(identity.SignIn, request)[1] == "PROVIDER_UNKNOWN"


def test_keys(identity):
    response = identity.GetJWKS(identity_pb2.GetJWKSRequest(), timeout=SECONDS)
    keys = json.loads(response.jwks_json)["keys"]
    assert keys and all("d" not in key and key["kid"] for key in keys)


def test_profile(profile, sign_in):
    signed_in = sign_in()
    person = on_behalf(signed_in.caller_proofs.profile)
    empty = profile.GetProfile(profile_pb2.GetProfileRequest(), timeout=SECONDS, metadata=person).profile
    assert empty.user_id == signed_in.tokens.user_id
    assert list(empty.missing_fields) == ["display_name", "phone_number"]

    phone = new_phone()
    update = profile_pb2.UpdateProfileRequest(display_name="Añá 🙂", phone_number=phone)
    saved = profile.UpdateProfile(update, timeout=SECONDS, metadata=person).profile
    assert (saved.display_name, saved.phone_number, list(saved.missing_fields)) == ("Añá 🙂", phone, [])

    other = on_behalf(sign_in().caller_proofs.profile)
    taken = profile_pb2.UpdateProfileRequest(phone_number=phone)
    assert refusal(profile.UpdateProfile, taken, other) == (grpc.StatusCode.ALREADY_EXISTS, "PHONE_TAKEN")
    wrong = profile_pb2.UpdateProfileRequest(phone_number="12")
    assert refusal(profile.UpdateProfile, wrong, person) == (grpc.StatusCode.INVALID_ARGUMENT, "PHONE_INVALID")


def test_nobody_acts_for_an_absent_user(identity, profile, invites, sign_in):
    """A user id from a caller without identity's proof, or with another user's, counts for nothing."""
    person, other = sign_in(), sign_in()
    proofs = person.caller_proofs
    named = b"\x0a\x24" + person.tokens.user_id.encode()  # As gateways of the version before named the user.
    calls = [
        (profile.GetProfile, profile_pb2.GetProfileRequest, proofs.invites),
        (profile.UpdateProfile, profile_pb2.UpdateProfileRequest, proofs.identity),
        (invites.CreateGroup, group_pb2.CreateGroupRequest, proofs.profile),
        (invites.AddMember, group_pb2.AddMemberRequest, proofs.profile),
        (invites.ListGroups, group_pb2.ListGroupsRequest, proofs.profile),
        (invites.ListMembers, group_pb2.ListMembersRequest, proofs.identity),
        (identity.GetAccount, identity_pb2.GetAccountRequest, proofs.profile),
        (identity.UpdateUserMetadata, identity_pb2.UpdateUserMetadataRequest, proofs.invites),
    ]
    required = (grpc.StatusCode.UNAUTHENTICATED, "CALLER_PROOF_REQUIRED")
    invalid = (grpc.StatusCode.UNAUTHENTICATED, "CALLER_PROOF_INVALID")
    for call, message, of_another_service in calls:
        request = message.FromString(named)
        assert refusal(call, request) == required
        assert refusal(call, request, on_behalf(of_another_service)) == invalid
        assert refusal(call, request, on_behalf("A" * 76)) == invalid
    # The proof identifies the user, and the request doesn't.
    request = profile_pb2.GetProfileRequest.FromString(named)
    told = profile.GetProfile(request, timeout=SECONDS, metadata=on_behalf(other.caller_proofs.profile)).profile
    assert told.user_id == other.tokens.user_id


def test_a_group_that_waits_for_a_phone(profile, invites, sign_in):
    owner, phone = on_behalf(sign_in().caller_proofs.invites), new_phone()
    group = invites.CreateGroup(
        group_pb2.CreateGroupRequest(name="Barkada"), timeout=SECONDS,
        metadata=owner + [("vestibule-caller-name-bin", "Añá".encode())]).group
    added = invites.AddMember(
        group_pb2.AddMemberRequest(group_id=group.group_id, phone_number=phone, display_name="Ben"),
        timeout=SECONDS, metadata=owner).member
    assert added.state == group_pb2.MEMBER_STATE_PENDING

    signed_in = sign_in()
    guest = on_behalf(signed_in.caller_proofs.invites)
    profile.UpdateProfile(
        profile_pb2.UpdateProfileRequest(display_name="Ben", phone_number=phone), timeout=SECONDS,
        metadata=on_behalf(signed_in.caller_proofs.profile))

    end = time.monotonic() + SECONDS
    while True:
        groups = invites.ListGroups(group_pb2.ListGroupsRequest(), timeout=SECONDS, metadata=guest).groups
        if [entry.group_id for entry in groups] == [group.group_id]:
            break
        assert time.monotonic() < end, "the member is not linked"
        time.sleep(0.05)
    members = invites.ListMembers(
        group_pb2.ListMembersRequest(group_id=group.group_id), timeout=SECONDS, metadata=guest).members
    assert members[0].display_name == "Añá"
    linked = [member for member in members if member.member_id == added.member_id]
    assert [(member.state, member.user_id) for member in linked] == [
        (group_pb2.MEMBER_STATE_MEMBER, signed_in.tokens.user_id)]

    stranger = on_behalf(sign_in().caller_proofs.invites)
    members = group_pb2.ListMembersRequest(group_id=group.group_id)
    assert refusal(invites.ListMembers, members, stranger)[1] in ("NOT_A_MEMBER", "GROUP_NOT_FOUND")
