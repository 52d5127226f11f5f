"""`vestibule.app.v1` through the gateway's one port, by every protocol: the same story as by the JSON routes."""

import json
import os
import pathlib
import re
import subprocess

import pytest

import process_table
import tokens
from app import Person, letters
from app_clients import WAYS, ConnectRPC, Refused, client_of
from vestibule.app.v1 import group_pb2

every_way = pytest.mark.parametrize("way", WAYS)


@pytest.fixture
def api(stack, way):
    with client_of(stack.addresses["gateway"], way) as client:
        client.tells_details = way != "grpc-web-pyease"
        yield client


def sign_in(stack, api, app, **more):
    """Signs a person in by RPC; the session's tokens and the answer."""
    asked = app.ask_apple()
    answer = api.call(
        "AuthService/SignInWithProvider", provider="apple", id_token=asked["identity_token"], nonce=asked["nonce"],
        authorization_code=asked["authorization_code"], device_name="a phone of a test", **more)
    stack.confidential |= {answer.tokens.access_token, answer.tokens.refresh_token, answer.tokens.id_token}
    return answer


@every_way
def test_the_whole_story(stack, api, new_app):
    app = new_app()
    person, friend = app.person, Person()
    stack.confidential |= friend.confidential
    opened = sign_in(stack, api, app, full_name=person.name)
    assert opened.is_new_user and not opened.missing_fields_unknown
    assert list(opened.missing_fields) == ["display_name", "phone_number"]
    assert opened.suggested_display_name == person.name
    assert 0 < opened.tokens.expires_in_seconds <= 3600
    access = opened.tokens.access_token

    me = api.call("AccountService/GetMe", access).profile
    assert me.user_id == opened.tokens.user_id and not me.HasField("updated_at") and me.display_name == ""
    changed = api.call(
        "AccountService/UpdateMe", access, display_name=person.name, phone_number=person.phone).profile
    assert (changed.display_name, changed.phone_number) == (person.name, person.phone)
    assert not changed.missing_fields and changed.updated_at.ToMilliseconds() > 0
    assert api.call("AccountService/GetMe", access).profile == changed

    group = api.call("GroupService/CreateGroup", access, name="Trip to Siargao").group
    assert (group.name, group.owner_user_id) == ("Trip to Siargao", me.user_id)
    member = api.call(
        "GroupService/AddMember", access, group_id=group.group_id, phone_number=friend.phone,
        display_name=friend.name).member
    assert (member.state, member.phone_number) == (group_pb2.MEMBER_STATE_PENDING, friend.phone)
    assert [each.group_id for each in api.call("GroupService/ListGroups", access, page_size=10).groups] == [group.group_id]
    page = api.call("GroupService/ListMembers", access, group_id=group.group_id, page_size=1)
    assert [each.user_id for each in page.members] == [me.user_id] and page.next_page_token
    rest = api.call(
        "GroupService/ListMembers", access, group_id=group.group_id, page_token=page.next_page_token)
    assert list(rest.members) == [member] and not rest.next_page_token

    # What was done by RPC is there for the routes.
    answer = stack.client().get("/me", token=access).expect(200)
    assert (answer["user_id"], answer["phone_number"]) == (me.user_id, person.phone)
    assert stack.client().get("/groups", token=access).expect(200)["groups"][0]["id"] == group.group_id

    continued = api.call("AuthService/RefreshSession", refresh_token=opened.tokens.refresh_token)
    stack.confidential |= {continued.tokens.access_token, continued.tokens.refresh_token, continued.tokens.id_token}
    assert continued.tokens.session_id == opened.tokens.session_id
    assert continued.tokens.refresh_token != opened.tokens.refresh_token and not continued.missing_fields
    api.call("AuthService/SignOut", continued.tokens.access_token)
    with pytest.raises(Refused) as caught:
        api.call("AuthService/RefreshSession", refresh_token=continued.tokens.refresh_token)
    assert caught.value.code == "UNAUTHENTICATED"


@every_way
def test_who_may_not(stack, api, member):
    """The reasons are those of the routes."""
    calls = [
        ("AccountService/GetMe", None, {}, "UNAUTHENTICATED", "AUTHENTICATION_REQUIRED"),
        ("AccountService/GetMe", "a.b.c", {}, "UNAUTHENTICATED", "ACCESS_TOKEN_INVALID"),
        ("AuthService/SignInWithProvider", None, {"provider": "nobody", "id_token": "t"}, "NOT_FOUND", "PROVIDER_UNKNOWN"),
        ("GroupService/ListMembers", member.access_token, {"group_id": "0190c2a5-7f00-7000-8000-000000000001"},
         "PERMISSION_DENIED", "NOT_A_MEMBER"),
    ]
    for name, token, fields, code, reason in calls:
        with pytest.raises(Refused) as caught:
            api.call(name, token, **fields)
        assert caught.value.code == code and caught.value.message, name
        if api.tells_details:
            assert caught.value.reason == reason, name


@every_way
def test_fields_at_fault(api, member, new_app):
    with pytest.raises(Refused) as caught:
        api.call("AccountService/UpdateMe", member.access_token, phone_number="12", display_name="M")
    assert caught.value.code == "INVALID_ARGUMENT"
    if api.tells_details:
        assert {field for field, _ in caught.value.fields} == {"phone_number", "display_name"}
    other = new_app()
    other.sign_in()
    with pytest.raises(Refused) as caught:
        api.call("AccountService/UpdateMe", other.access_token, phone_number=member.person.phone)
    assert caught.value.code == "ALREADY_EXISTS"
    assert caught.value.message == "This phone number is already associated with another account."
    if api.tells_details:
        assert caught.value.reason == "PHONE_TAKEN"
        assert [field for field, _ in caught.value.fields] == ["phone_number"]


@every_way
def test_a_group_is_created_once(api, member):
    key = "8e03978e-40d5-43dd-bc93-6894a57f9324"
    first, second = (
        api.call("GroupService/CreateGroup", member.access_token, name="Trip", idempotency_key=key).group for _ in range(2))
    assert first == second
    with pytest.raises(Refused) as caught:
        api.call("GroupService/CreateGroup", member.access_token, name="Another", idempotency_key=key)
    if api.tells_details:
        assert caught.value.reason == "IDEMPOTENCY_KEY_REUSED"


@every_way
def test_the_key_set(api, app):
    answer = api.call("KeyService/GetKeySet")
    assert answer.max_age_seconds > 0
    _, claims = tokens.verify(app.access_token, json.loads(answer.jwks_json))
    assert claims["sub"] == app.user_id


def test_the_key_set_by_get(stack, gateway):
    """Browsers and caches get it by a URL, and nothing else."""
    answer = gateway.get("/vestibule.app.v1.KeyService/GetKeySet?encoding=json&message=%7B%7D")
    body = answer.expect(200)
    assert json.loads(body["jwksJson"])["keys"] and body["maxAgeSeconds"] > 0
    assert answer.headers["Cache-Control"] == f"public, max-age={body['maxAgeSeconds']}"
    client = ConnectRPC(stack.addresses["gateway"], json=True)
    from vestibule.app.v1 import key_pb2

    assert client._call("KeyService/GetKeySet", key_pb2.GetKeySetRequest(), {}, use_get=True).jwks_json
    client.close()
    refused = gateway.get("/vestibule.app.v1.AccountService/GetMe?encoding=json&message=%7B%7D")
    assert refused.status == 405 and refused.headers["Allow"] == "POST"


def test_json_by_hand(gateway, member):
    """What a person types: no header of Connect's but the content type, names as proto3 JSON has them."""
    answer = gateway.send(
        "POST", "/vestibule.app.v1.AccountService/GetMe", {}, token=member.access_token)
    profile = answer.expect(200)["profile"]
    assert profile["displayName"] == member.person.name and profile["updatedAt"].endswith("Z")
    assert "missingFields" not in profile
    refused = gateway.send("POST", "/vestibule.app.v1.AccountService/GetMe", {})
    assert refused.status == 401 and refused.json["code"] == "unauthenticated"
    assert refused.headers["Content-Type"] == "application/json"
    details = refused.json["details"]
    assert [each["debug"]["reason"] for each in details if each["type"] == "google.rpc.ErrorInfo"] == [
        "AUTHENTICATION_REQUIRED"]
    unknown = gateway.send("POST", "/vestibule.app.v1.AccountService/DropEverything", {})
    assert unknown.status == 404


def test_the_function_of_the_page_reads_errors_without_protobuf(stack, member):
    page = pathlib.Path(__file__).resolve().parents[2] / "docs/apps/one-port-every-client.md"
    function, = re.findall(r"```javascript\n(.*?)\n```", page.read_text(), re.DOTALL)
    script = function + """
    const show = (promise) => promise.then(
      (answer) => ({ answer }), ({ message, code, reason, fields }) => ({ message, code, reason, fields }));
    (async () => {
      const { GATEWAY: gateway, ACCESS: token } = process.env;
      console.log(JSON.stringify([
        await show(call(gateway, "AccountService/GetMe", {}, token)),
        await show(call(gateway, "AccountService/UpdateMe", { displayName: "x", phoneNumber: "1" }, token)),
        await show(call(gateway, "AccountService/GetMe", {}, "nonsense")),
      ]));
    })();
    """
    variables = {"GATEWAY": f"http://{stack.addresses['gateway']}", "ACCESS": member.access_token}
    done = subprocess.run(
        ["node", "-e", script], env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True, timeout=30, check=True)
    profile, faults, refused = json.loads(done.stdout)
    assert profile["answer"]["profile"]["displayName"] == member.person.name
    assert faults["code"] == "invalid_argument" and faults["reason"] == "DISPLAY_NAME_INVALID"
    assert [(each["field"], each["reason"]) for each in faults["fields"]] == [
        ("display_name", "DISPLAY_NAME_INVALID"), ("phone_number", "PHONE_INVALID")]
    assert all(each["description"] for each in faults["fields"])
    assert refused["code"] == "unauthenticated" and refused["reason"] == "ACCESS_TOKEN_INVALID" and refused["fields"] == []


def test_calls_are_logged_and_counted(stack, gateway, member):
    name = f"e2e-{letters(12)}"
    answer = gateway.send(
        "POST", "/vestibule.app.v1.AccountService/GetMe", {}, token=member.access_token, headers={"X-Request-Id": name})
    answer.expect(200)

    def calls():
        lines = [line for line in stack.logs()["gateway.log"].splitlines() if name in line]
        return [line for line in lines if "/vestibule.app.v1.AccountService/GetMe" in line]

    process_table.wait_until(calls, 10, "the call in the log")
    assert len(calls()) == 1 and "code=OK" in calls()[0], calls()
