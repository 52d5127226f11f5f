"""The gateway's certificate is worth nothing without users' tokens: services with certificates and the allow lists of
docker/compose.yaml, called by an attacker who has stolen the gateway's certificate."""

import base64
import contextlib
import hashlib
import hmac
import json
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import time
import uuid

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from vestibule.app.v1 import group_pb2, group_pb2_grpc
from vestibule.identity.v1 import identity_pb2, identity_pb2_grpc
from vestibule.invites.v1 import invites_pb2, invites_pb2_grpc
from vestibule.profile.v1 import profile_pb2, profile_pb2_grpc

import process_table
from stack import PROOF, free_ports, program

SECONDS = 10
NAMES = ("identity", "profile", "invites")
COMPOSE = pathlib.Path(__file__).resolve().parents[2] / "docker/compose.yaml"
REQUIRED = (grpc.StatusCode.UNAUTHENTICATED, "CALLER_PROOF_REQUIRED")
INVALID = (grpc.StatusCode.UNAUTHENTICATED, "CALLER_PROOF_INVALID")
EXPIRED = (grpc.StatusCode.UNAUTHENTICATED, "CALLER_PROOF_EXPIRED")


def allow_list(name):
    """The allow list of a deployment without a service key: conditional lines are absent."""
    block = re.search(rf"^( *)VESTIBULE_{name.upper()}_TLS_ALLOW: \|\n((?:\1 +.*\n)*)", COMPOSE.read_text(), re.MULTILINE)
    lines = [line.strip() for line in block.group(2).splitlines() if "${" not in line]
    assert len(lines) > 2
    return "\n".join(lines)


class Deployment:
    """A second copy of a stack's services, on the same data, configured like a deployment."""

    def __init__(self, stack, folder, **more):
        self.stack, self.folder, self.more = stack, folder, more
        self.secrets = folder / "secrets"
        subprocess.run([program("vestibule"), "init", "--folder", self.secrets], check=True, capture_output=True)
        for kind in ("signing", "refresh"):
            (self.secrets / f"keys/{kind}.json").unlink()
            shutil.copy(stack.folder / f"secrets/keys/{kind}.json", self.secrets / "keys")
        self.ports = dict(zip(NAMES, free_ports(len(NAMES))))

    @contextlib.contextmanager
    def running(self):
        with contextlib.ExitStack() as ended:
            for name in NAMES:
                log = ended.enter_context((self.folder / f"{name}.log").open("w"))
                process = subprocess.Popen(
                    [program(name), "serve"], env=self.environment(name), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
                ended.callback(process.wait)
                ended.callback(process.kill)
            for name in NAMES:
                process_table.wait_until(
                    lambda: self.listens(name), 20,
                    lambda: f"{name}; it said {(self.folder / f'{name}.log').read_text()}")
            yield self

    def environment(self, name):
        prefix = f"VESTIBULE_{name.upper()}"
        return {
            **process_table.environment(self.stack.process_of(name)),
            f"{prefix}_LISTEN": f"127.0.0.1:{self.ports[name]}",
            f"{prefix}_METRICS_LISTEN": "",
            # Identity's other keys are those of the stack, which made these sessions.
            f"{prefix}_KEYS_FOLDER": str(self.secrets / ("keys" if name == "identity" else f"{name}-keys")),
            f"{prefix}_TLS_CERTIFICATE_FILE": str(self.secrets / f"{name}.pem"),
            f"{prefix}_TLS_KEY_FILE": str(self.secrets / f"{name}-key.pem"),
            f"{prefix}_TLS_CLIENT_CERTIFICATE_FILE": str(self.secrets / f"{name}.pem"),
            f"{prefix}_TLS_CLIENT_KEY_FILE": str(self.secrets / f"{name}-key.pem"),
            f"{prefix}_TLS_CLIENT_CA_FILE": str(self.secrets / "ca.pem"),
            f"{prefix}_TLS_ALLOW": allow_list(name),
            "VESTIBULE_SERVICES_CA_FILE": str(self.secrets / "ca.pem"),
            **{f"VESTIBULE_{other.upper()}_ADDRESS": f"localhost:{port}" for other, port in self.ports.items()},
            **self.more,
        }

    def listens(self, name):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.ports[name]), timeout=1):
            return True
        return False

    def stub(self, name, caller="gateway", stub=None):
        """A service called with a program's certificate. If the service has two stubs, the default is the one for users."""
        read = lambda file: (self.secrets / file).read_bytes()
        credentials = grpc.ssl_channel_credentials(read("ca.pem"), read(f"{caller}-key.pem"), read(f"{caller}.pem"))
        channel = grpc.secure_channel(
            f"127.0.0.1:{self.ports[name]}", credentials, [("grpc.ssl_target_name_override", name)])
        stubs = {"identity": identity_pb2_grpc.IdentityServiceStub, "profile": profile_pb2_grpc.ProfileServiceStub,
                 "invites": group_pb2_grpc.GroupServiceStub}
        return (stub or stubs[name])(channel)

    def key(self, service):
        """A service's own proof key."""
        current = json.loads((self.secrets / f"{service}-keys/proof.json").read_text())["keys"][0]
        return base64.urlsafe_b64decode(current["key"] + "=")

    def proof(self, service, user_id, key=None, minute=None, name=None):
        """A proof made according to docs/run/trust-between-services.md, under the service's own key by default."""
        key = key or self.key(service)
        minute = int((time.time() - 30) // 60) if minute is None else minute
        key_id = hkdf(key, b"vestibule caller proof key id 1", 4)
        content = b"\x01" + key_id + struct.pack(">I", minute) + uuid.UUID(user_id).bytes + bytes(16)
        label = b"vestibule caller proof 1\0" + (name or service).encode() + b"\0"
        code = hmac.new(key, label + content, hashlib.sha256).digest()[:16]
        return base64.urlsafe_b64encode(content + code).decode()


def hkdf(secret, info, count):
    extracted = hmac.new(bytes(32), secret, hashlib.sha256).digest()
    return hmac.new(extracted, info + b"\x01", hashlib.sha256).digest()[:count]


def on_behalf(proof):
    return [("vestibule-caller-proof", proof)]


def refusal(call, request, metadata=None):
    with pytest.raises(grpc.RpcError) as caught:
        call(request, timeout=SECONDS, metadata=metadata)
    status = rpc_status.from_call(caught.value)
    info = error_details_pb2.ErrorInfo()
    for detail in status.details if status else []:
        if detail.Unpack(info):
            return caught.value.code(), info.reason
    return caught.value.code(), None


@pytest.fixture(scope="module")
def deployment(stack, tmp_path_factory):
    with Deployment(stack, tmp_path_factory.mktemp("deployment")).running() as deployment:
        yield deployment


def test_with_the_gateways_certificate_and_without_a_user(deployment, member):
    """An attacker names an existing user with a complete profile, and gets none of their data."""
    user_id = member.user_id
    named = b"\x0a\x24" + user_id.encode()
    profile, invites, identity = (deployment.stub(name) for name in ("profile", "invites", "identity"))
    calls = [
        (profile.GetProfile, profile_pb2.GetProfileRequest), (profile.UpdateProfile, profile_pb2.UpdateProfileRequest),
        (invites.CreateGroup, group_pb2.CreateGroupRequest), (invites.AddMember, group_pb2.AddMemberRequest),
        (invites.ListGroups, group_pb2.ListGroupsRequest), (invites.ListMembers, group_pb2.ListMembersRequest),
        (invites.AddMembers, group_pb2.AddMembersRequest), (invites.GetGroup, group_pb2.GetGroupRequest),
        (invites.UpdateGroup, group_pb2.UpdateGroupRequest), (invites.DeleteGroup, group_pb2.DeleteGroupRequest),
        (invites.RemoveMember, group_pb2.RemoveMemberRequest), (invites.LeaveGroup, group_pb2.LeaveGroupRequest),
        (invites.SetMemberRole, group_pb2.SetMemberRoleRequest),
        (invites.HandOverGroup, group_pb2.HandOverGroupRequest),
        (identity.GetAccount, identity_pb2.GetAccountRequest),
        (identity.UpdateUserMetadata, identity_pb2.UpdateUserMetadataRequest),
        (identity.ProvePhone, identity_pb2.ProvePhoneRequest),
    ]
    guess = bytes(32)
    for call, message in calls:
        request = message.FromString(named)
        assert refusal(call, request) == REQUIRED
        assert refusal(call, request, on_behalf(deployment.proof("profile", user_id, key=guess))) == INVALID
        assert refusal(call, request, on_behalf("")) == INVALID
    denied = (grpc.StatusCode.PERMISSION_DENIED, None)
    assert refusal(profile.LookUpProfile, profile_pb2.LookUpProfileRequest(user_id=user_id)) == denied
    assert refusal(identity.LookUpAccount, identity_pb2.LookUpAccountRequest(user_id=user_id)) == denied
    for_programs = deployment.stub("invites", stub=invites_pb2_grpc.InvitesServiceStub)
    assert refusal(for_programs.ApplyPhoneEvents, invites_pb2.ApplyPhoneEventsRequest()) == denied


def test_a_service_can_report_only_its_own_events(deployment):
    """Checked against the certificates and the allow list of a deployment, which the services use too."""
    def told(kind):
        event = identity_pb2.ServiceEvent(
            event_id=str(uuid.uuid4()), type=kind, user_id=str(uuid.uuid4()), occurred_at_milliseconds=int(time.time() * 1000))
        if kind == "group.joined":
            event.group_id, event.member_id = str(uuid.uuid4()), str(uuid.uuid4())
        return identity_pb2.AcceptEventsRequest(events=[event])

    own = {"profile": ("profile.completed", "phone.changed"), "invites": ("group.joined",)}
    for caller, kinds in own.items():
        accept = deployment.stub("identity", caller).AcceptEvents
        assert list(accept(identity_pb2.AcceptEventsRequest(), timeout=SECONDS).wanted_types) == [], "there is no target"
        for kind in sum(own.values(), ()):
            if kind in kinds:
                accept(told(kind), timeout=SECONDS)
            else:
                assert refusal(accept, told(kind)) == (grpc.StatusCode.PERMISSION_DENIED, "EVENT_NOT_YOURS")
        assert "events may not reach identity" not in (deployment.folder / f"{caller}.log").read_text()
    for caller in ("gateway", "identity"):
        assert refusal(deployment.stub("identity", caller).AcceptEvents, told("group.joined")) == (
            grpc.StatusCode.PERMISSION_DENIED, None)


def test_with_the_users_token(deployment, member):
    """Identity makes a proof for each service; each proof is valid at that service only, and for that user."""
    session = deployment.stub("identity").CheckSession(
        identity_pb2.CheckSessionRequest(access_token=member.session["access_token"]), timeout=SECONDS)
    proofs = session.caller_proofs
    assert all(PROOF.fullmatch(each) for each in (proofs.identity, proofs.profile, proofs.invites)), "found in no log"
    profile, invites = deployment.stub("profile"), deployment.stub("invites")
    told = profile.GetProfile(
        profile_pb2.GetProfileRequest(), timeout=SECONDS, metadata=on_behalf(proofs.profile)).profile
    assert told.user_id == session.user_id == member.user_id and not told.missing_fields
    invites.ListGroups(group_pb2.ListGroupsRequest(), timeout=SECONDS, metadata=on_behalf(proofs.invites))
    assert refusal(profile.GetProfile, profile_pb2.GetProfileRequest(), on_behalf(proofs.invites)) == INVALID
    assert refusal(invites.ListGroups, group_pb2.ListGroupsRequest(), on_behalf(proofs.profile)) == INVALID
    # Another program's certificate can call no method, with a proof or without.
    for caller in ("profile", "invites", "identity"):
        other = deployment.stub("profile", caller)
        assert refusal(other.GetProfile, profile_pb2.GetProfileRequest(), on_behalf(proofs.profile))[0] \
            == grpc.StatusCode.PERMISSION_DENIED


def test_a_service_that_is_broken_into_opens_no_other(deployment, member):
    """With profile's own key an attacker can be any user at profile, as with its database, and nobody at other services."""
    user_id = member.user_id
    own = deployment.proof("profile", user_id)
    profile, invites = deployment.stub("profile"), deployment.stub("invites")
    told = profile.GetProfile(profile_pb2.GetProfileRequest(), timeout=SECONDS, metadata=on_behalf(own)).profile
    assert told.user_id == user_id, "the page says how a proof is made"
    key = deployment.key("profile")
    for name in ("profile", "invites"):
        forged = deployment.proof("invites", user_id, key=key, name=name)
        assert refusal(invites.ListGroups, group_pb2.ListGroupsRequest(), on_behalf(forged)) == INVALID
    now = int(time.time() // 60)
    for minute in (now - 3, now + 2, 0):
        old = on_behalf(deployment.proof("profile", user_id, minute=minute))
        assert refusal(profile.GetProfile, profile_pb2.GetProfileRequest(), old) == EXPIRED


def test_a_foreign_service_can_check_a_session_and_gets_no_proofs(stack, tmp_path, member):
    """It may call CheckSession if the list allows it, and can act for no user."""
    deployment = Deployment(stack, tmp_path)
    rule = "spiffe://vestibule/profile vestibule.identity.v1.IdentityService/CheckSession"
    deployment.more["VESTIBULE_IDENTITY_TLS_ALLOW"] = allow_list("identity") + "\n" + rule
    with deployment.running():
        request = identity_pb2.CheckSessionRequest(access_token=member.session["access_token"])
        session = deployment.stub("identity", "profile").CheckSession(request, timeout=SECONDS)
        assert session.user_id == member.user_id and not session.HasField("caller_proofs")
        assert deployment.stub("identity").CheckSession(request, timeout=SECONDS).caller_proofs.profile
