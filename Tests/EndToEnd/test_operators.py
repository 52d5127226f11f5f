"""What operators do with accounts, by the command that they know: find, block, unblock, end sessions, release a phone number,
read the audit log. In a deployment by a certificate of their own, with which alone it works."""

import json
import subprocess
import uuid

import grpc
import pytest
from vestibule.identity.v1 import identity_pb2
from vestibule.operator.v1 import operator_pb2, operator_pb2_grpc
from vestibule.profile.v1 import profile_pb2

import process_table
import tokens
from app import App, Person
from app_clients import Refused, client_of
from other_gateway import another_gateway
from stack import clean_environment, program
from test_caller_proof import Deployment, refusal

ROLE = "spiffe://vestibule/operator"
DENIED = (grpc.StatusCode.PERMISSION_DENIED, None)
WORDPRESS = "/wp-json/gread/v1"
METHODS = ("FindAccount", "ListAccounts", "ListSessions", "ListGroups", "BlockAccount", "UnblockAccount", "DeleteAccount", "OpenAccount", "EndSessions", "ReleasePhone", "ListPhoneDisputes", "ListSecurityEvents")


def account(stack, *arguments, environment=None):
    """`vestibule account …` beside the services, on loopback."""
    return subprocess.run(
        [program("vestibule"), "account", *arguments], env=environment or stack.environment, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=60)


def done(stack, *arguments):
    result = account(stack, *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def found(stack, who):
    """The accounts that are found, as JSON output."""
    return [json.loads(line) for line in done(stack, "find", who, "--json").splitlines()]


def events(stack, user_id, *arguments):
    return [json.loads(line) for line in done(stack, "events", user_id, "--json", *arguments).splitlines()]


def is_over(app):
    """Waits until the session is over, which checks see within a second."""
    process_table.wait_until(lambda: app.get("/me").status == 401, 2, "the end of a session")
    app.get("/me").problem(401, "SESSION_REVOKED")
    return True


def test_an_account_is_found_by_each_kind_of_input(stack, member):
    person = member.person
    for who in (member.user_id, member.user_id.upper(), person.phone, f"0{person.digits}", person.email.upper()):
        accounts = found(stack, who)
        assert [each["user_id"] for each in accounts] == [member.user_id], who
        told = accounts[0]
        assert told["profile"] == {"display_name": person.name, "phone_number": person.phone}
        assert told["live_sessions"] == 1 and told["account_number"] > 0 and "block" not in told
        assert told["identities"][0]["provider"] == "apple" and told["identities"][0]["email"] == person.email
    lines = dict(line.split(maxsplit=1) for line in done(stack, "find", member.user_id).splitlines())
    assert (lines["account"], lines["blocked"], lines["phone"]) == (member.user_id, "no", person.phone)
    for who in (str(uuid.uuid4()), "nobody@example.com", f"+63917{Person().digits[3:]}"):
        result = account(stack, "find", who)
        assert (result.returncode, result.stdout.strip()) == (1, "")
        assert result.stderr == "vestibule account find: there is no such account\n"
    refused = account(stack, "find", "123")
    assert refused.returncode == 1 and "PHONE_INVALID" in refused.stderr


def test_a_relay_address_is_never_shown(stack, new_app):
    app = new_app()
    relay = f"{app.person.digits}x@privaterelay.appleid.com"
    app.present("apple", app.ask_apple(claims={"email": relay, "is_private_email": True})).expect(200)
    assert app.get("/me").status == 200
    for who in (app.user_id, relay):
        for format in ((), ("--json",)):
            told = done(stack, "find", who, *format)
            assert app.user_id in told and "privaterelay" not in told
    identity = found(stack, app.user_id)[0]["identities"][0]
    assert identity["is_private_email"] and "email" not in identity


def test_a_blocked_user_can_sign_in_nowhere(stack, member, new_app):
    group, friend = member.create_group(), new_app()
    friend.sign_in()
    friend.save(display_name="Friend", phone_number=friend.person.phone).expect(200)
    member.invite(friend.person, group)
    friend.wait_for_group(group)
    second = App(stack, member.person)
    second.sign_in()

    told = account(stack, "block", member.user_id, "--reason", "abuse")
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr == (
        "vestibule account block: the account is not blocked; 2 live sessions would be ended. Nothing was changed; "
        "--confirm does it\n")
    member.get("/me").expect(200)

    assert done(stack, "block", member.user_id, "--reason", "abuse", "--confirm") == "blocked; ended 2 live sessions\n"
    for app in (member, second):
        assert is_over(app)
        app.refresh().problem(401, "SESSION_REVOKED")
    again = App(stack, member.person)
    for _ in range(2):
        again.present("apple", again.ask_apple()).problem(403, "ACCOUNT_BLOCKED")
    assert found(stack, member.user_id)[0]["block"]["reason"] == "abuse"
    # The user's data is kept.
    assert len(friend.members(group)) == 2
    friend.save(phone_number=member.person.phone).problem(409, "PHONE_TAKEN", [("phone_number", "PHONE_TAKEN")])

    assert done(stack, "unblock", member.user_id) == "unblocked\n"
    assert done(stack, "unblock", member.user_id) == "it was not blocked\n"
    assert again.sign_in()["user_id"] == member.user_id
    assert again.group_ids() == [group]
    kinds = [event["kind"] for event in events(stack, member.user_id)]
    assert kinds[:2] == ["signed_in", "account_unblocked"]
    assert kinds.count("account_blocked") == 1 and kinds.count("session_ended") == 2


@pytest.mark.parametrize("provider", ("apple", "google"))
def test_sign_ins_by_each_api_are_refused(stack, new_app, provider):
    """By the app's RPCs, and by each dialect with an error that its clients know."""
    app = new_app()
    app.sign_in(provider)
    assert done(stack, "block", app.user_id, "--reason", "abuse", "--confirm")

    def credentials():
        """The result of one sign-in at the provider: its ID token and the raw nonce."""
        request = app.ask_apple() if provider == "apple" else app.ask_google()
        return request.get("identity_token") or request["id_token"], request["nonce"]

    token, nonce = credentials()
    with client_of(stack.addresses["gateway"], "grpc") as client, pytest.raises(Refused) as refused:
        client.call("AuthService/SignInWithProvider", provider=provider, id_token=token, nonce=nonce)
    assert (refused.value.code, refused.value.reason) == ("PERMISSION_DENIED", "ACCOUNT_BLOCKED")
    with another_gateway(stack, DIALECTS="single-token,wordpress,supabase") as dialects:
        token, nonce = credentials()
        body = {"provider": provider, "id_token": token, "nonce": nonce}
        answer = dialects.post("/auth/v1/token?grant_type=id_token", body).expect(403)
        assert answer["error_code"] == "user_banned"
        token, nonce = credentials()
        name = "identity_token" if provider == "apple" else "id_token"
        answer = dialects.post(f"/api/auth/{provider}", {name: token, "nonce": nonce}).expect(403)
        assert answer["error"] == "ACCOUNT_BLOCKED"
        if provider == "apple":
            token, nonce = credentials()
            person = {"appleUserID": tokens.parts(token)[1]["sub"], "identityToken": token, "nonce": nonce}
            answer = dialects.post(f"{WORDPRESS}/auth/apple/login", person).expect(403)
            assert answer["code"] == "account_blocked"
            more = {"username": f"u_{app.person.digits}", "email": app.person.email, "fullName": "Maria"}
            answer = dialects.post(f"{WORDPRESS}/auth/apple/register", person | more).expect(403)
            assert answer["code"] == "account_blocked"
    assert found(stack, app.user_id)[0].get("live_sessions", 0) == 0


def test_sessions_end_and_their_owner_can_sign_in_again(stack, member):
    assert done(stack, "end-sessions", member.user_id) == "ended 1 live sessions\n"
    assert is_over(member)
    assert member.sign_in()["user_id"]
    missing = account(stack, "end-sessions", str(uuid.uuid4()))
    assert missing.returncode == 1
    assert missing.stderr == "vestibule account end-sessions: ACCOUNT_NOT_FOUND: There is no such account.\n"


def test_a_released_number_can_be_taken_by_anybody(stack, member, new_app):
    other = new_app()
    other.sign_in()
    number = member.person.phone
    told = account(stack, "release-phone", number)
    assert (told.returncode, told.stdout) == (1, "")
    assert f"account {member.user_id} would lose the number {number}. Nothing was changed" in told.stderr
    other.save(phone_number=number).problem(409, "PHONE_TAKEN", [("phone_number", "PHONE_TAKEN")])

    assert done(stack, "release-phone", number, "--confirm") == f"released {number} of account {member.user_id}\n"
    assert done(stack, "release-phone", number, "--confirm") == "nobody has it\n"
    assert member.get("/me").expect(200)["missing_fields"] == ["phone_number"]
    other.save(display_name="Other", phone_number=number).expect(200)
    # The former owner's id doesn't release another user's number.
    assert done(stack, "release-phone", member.user_id, "--confirm") == "nobody has it\n"
    assert other.get("/me").expect(200)["phone_number"] == number
    group = new_app()
    group.sign_in()
    group.complete()
    theirs = group.create_group()
    group.invite(other.person, theirs, phone=number)
    other.wait_for_group(theirs)


def test_an_account_is_deleted_for_good(stack, member):
    asked = account(stack, "delete", member.user_id)
    assert asked.returncode == 1 and "--confirm does it" in asked.stderr and member.user_id in asked.stderr
    assert member.get("/me").status == 200
    # Apple's consent is withdrawn by the token that was kept.
    assert done(stack, "delete", member.user_id, "--confirm").splitlines()[0] == "deleted"
    process_table.wait_until(lambda: member.get("/me").status == 401, 2, "the end of the session")
    assert done(stack, "delete", member.user_id, "--confirm").splitlines()[0] == "it was deleted before"
    (deleted,) = [event for event in events(stack, member.user_id) if event["kind"] == "account_deleted"]
    assert json.loads(deleted["details_json"]) == {"by": "operator"}
    process_table.wait_until(
        lambda: account(stack, "trace", member.user_id, "--config", str(stack.folder / "operator.env")).returncode == 0, 15,
        "all services to have deleted what they had")
    missing = account(stack, "delete", str(uuid.uuid4()), "--confirm")
    assert missing.returncode == 1 and "ACCOUNT_NOT_FOUND" in missing.stderr
    # The person is somebody new.
    again = App(stack, member.person)
    again.sign_in()
    assert again.user_id != member.user_id


def test_the_audit_log_has_operators_and_actions_without_personal_data(stack, member):
    person = member.person
    for who in (member.user_id, person.phone, person.email):
        done(stack, "find", who)
    done(stack, "block", member.user_id, "--reason", "lost_phone", "--confirm")
    done(stack, "release-phone", person.phone, "--confirm")
    done(stack, "unblock", member.user_id)
    listed = events(stack, member.user_id, "--limit", "300")
    told = {event["kind"]: json.loads(event["details_json"]) for event in listed}
    assert told["account_blocked"] == {"reason": "lost_phone", "sessions": 1}
    assert told["phone_released"] == {} and told["account_unblocked"] == {}
    assert {json.loads(event["details_json"])["by"] for event in listed if event["kind"] == "account_found"} == {
        "user_id", "phone_number", "email"}
    text = json.dumps(listed)
    assert not any(each in text for each in person.confidential)
    assert len(events(stack, member.user_id, "--limit", "2")) == 2
    lines = done(stack, "events", member.user_id, "--limit", "1").splitlines()
    assert len(lines) == 1 and lines[0].split()[1] == "account_found"
    text = stack.sql(f"SELECT details FROM identity.security_events WHERE user_id = '{member.user_id}'")
    assert not any(each in text for each in person.confidential)


@pytest.fixture(scope="module")
def deployment(stack, tmp_path_factory):
    with Deployment(stack, tmp_path_factory.mktemp("operators")).running() as deployment:
        yield deployment


def operators(deployment, caller):
    """The service, called with that program's certificate."""
    read = lambda file: (deployment.secrets / file).read_bytes()
    credentials = grpc.ssl_channel_credentials(read("ca.pem"), read(f"{caller}-key.pem"), read(f"{caller}.pem"))
    channel = grpc.secure_channel(
        f"127.0.0.1:{deployment.ports['identity']}", credentials, [("grpc.ssl_target_name_override", "identity")])
    return operator_pb2_grpc.OperatorServiceStub(channel)


def requests(user_id):
    def request(name):
        kind = getattr(operator_pb2, f"{name}Request")
        fields = {"user_id": user_id, "reason": "abuse"}
        return kind(**{field: value for field, value in fields.items() if field in kind.DESCRIPTOR.fields_by_name})

    return {name: request(name) for name in METHODS}


def test_only_the_operators_certificate_is_accepted(deployment, member):
    for caller in ("gateway", "profile", "invites", "identity"):
        stub = operators(deployment, caller)
        for name, request in requests(member.user_id).items():
            assert refusal(getattr(stub, name), request) == DENIED, (caller, name)
    # It is accepted by no other service.
    identity = deployment.stub("identity", "operator")
    assert refusal(identity.LookUpAccount, identity_pb2.LookUpAccountRequest(user_id=member.user_id)) == DENIED
    assert refusal(identity.RemoveAccount, identity_pb2.RemoveAccountRequest(user_id=member.user_id)) == DENIED
    for caller in ("gateway", "invites", "operator"):
        profile = deployment.stub("profile", caller)
        assert refusal(profile.ReleasePhone, profile_pb2.ReleasePhoneRequest(user_id=member.user_id)) == DENIED
        assert refusal(profile.FindPhoneHolder, profile_pb2.FindPhoneHolderRequest(phone_number="+63")) == DENIED
    holder = deployment.stub("profile", "identity").FindPhoneHolder(
        profile_pb2.FindPhoneHolderRequest(phone_number=member.person.phone), timeout=10)
    assert holder.user_id == member.user_id


def test_an_allow_list_for_everybody_makes_no_operator(stack, tmp_path, member):
    deployment = Deployment(stack, tmp_path)
    deployment.more["VESTIBULE_IDENTITY_TLS_ALLOW"] = "* *"
    with deployment.running():
        for name, request in requests(member.user_id).items():
            assert refusal(getattr(operators(deployment, "gateway"), name), request) == (
                grpc.StatusCode.PERMISSION_DENIED, "OPERATOR_REQUIRED")
        assert operators(deployment, "operator").FindAccount(
            operator_pb2.FindAccountRequest(user_id=member.user_id), timeout=10).accounts[0].user_id == member.user_id


def test_the_command_with_the_operators_certificate(deployment, member):
    secrets = deployment.secrets
    place = {"VESTIBULE_IDENTITY_ADDRESS": f"127.0.0.1:{deployment.ports['identity']}"}

    def call(certificate, *arguments):
        environment = {**clean_environment(), **place, "VESTIBULE_SERVICES_CA_FILE": str(secrets / "ca.pem")}
        if certificate:
            environment |= {
                "VESTIBULE_OPERATOR_TLS_CLIENT_CERTIFICATE_FILE": str(secrets / f"{certificate}.pem"),
                "VESTIBULE_OPERATOR_TLS_CLIENT_KEY_FILE": str(secrets / f"{certificate}-key.pem")}
        return account(None, *arguments, "--server-name", "identity", environment=environment)

    done = call("operator", "end-sessions", member.user_id)
    assert (done.returncode, done.stdout) == (0, "ended 1 live sessions\n"), done.stderr
    told = call("operator", "events", member.user_id)
    details = [json.loads(line.split(maxsplit=3)[3]) for line in told.stdout.splitlines() if "_everywhere " in line]
    assert details == [{"by": "operator", "operator": ROLE, "sessions": 1}]
    denied = call("gateway", "block", member.user_id, "--reason", "abuse", "--confirm")
    assert denied.returncode == 1 and "PERMISSION_DENIED" in denied.stderr, denied.stderr
    assert call(None, "find", member.user_id).returncode == 1


def test_invalid_arguments_are_reported(stack, tmp_path):
    for arguments in (("block", "me", "--reason", "abuse"), ("find",), ("block", str(uuid.uuid4())),
                      ("release-phone", "maria@example.com"), ("events", str(uuid.uuid4()), "--limit", "0")):
        assert account(stack, *arguments).returncode == 64, arguments
    bad = account(stack, "block", str(uuid.uuid4()), "--reason", "Two Words", "--confirm")
    assert bad.returncode == 1 and "BLOCK_REASON_INVALID" in bad.stderr
    missing = {**stack.environment, "VESTIBULE_SERVICES_CA_FILE": str(tmp_path / "none.pem")}
    fault = account(stack, "find", str(uuid.uuid4()), environment=missing)
    assert fault.returncode == 78 and "VESTIBULE_SERVICES_CA_FILE" in fault.stderr
    for command in (("--help",), ("block", "--help"), ("find", "--help")):
        assert account(stack, *command).returncode == 0
    help = account(stack, "--help").stdout
    assert all(each in help for each in ("VESTIBULE_OPERATOR_TLS_CLIENT_CERTIFICATE_FILE", "release-phone", "trace"))
