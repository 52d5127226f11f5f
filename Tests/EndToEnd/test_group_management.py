"""Roles, changes of groups and of members, over HTTP and by RPC."""

import pytest

import process_table
from app import GROUP_MEMBERS, LINK_SECONDS, MEMBER_MEMBERS, Person, letters
from app_clients import Refused, client_of
from vestibule.app.v1 import group_pb2


@pytest.fixture
def friend(stack, new_app):
    """Another user, whose number invites knows."""
    app = new_app()
    app.sign_in()
    app.complete()
    known = f"SELECT count(*) FROM invites.phones WHERE user_id = '{app.user_id}'"
    process_table.wait_until(lambda: stack.sql(known) == "1", LINK_SECONDS, "the number at invites")
    return app


@pytest.fixture
def party(member, friend):
    """A group with its owner, another member and a pending person."""
    group = member.create_group()
    joined = member.invite(friend.person, group)
    assert joined["state"] == "member" and joined["role"] == "member" and joined["unconfirmed"] is False
    awaited = member.invite(Person(), group)
    return group, friend, joined["id"], awaited["id"]


def test_roles_and_a_change_of_the_owner(member, party):
    group, friend, friend_id, awaited_id = party
    told = member.get(f"/groups/{group}").expect(200)
    assert set(told) == GROUP_MEMBERS and (told["openness"], told["role"]) == ("open", "owner")
    assert friend.get("/groups").expect(200)["groups"] == [told | {"role": "member"}]
    friend.gateway.patch(f"/groups/{group}", {"name": "Theirs"}, token=friend.access_token).problem(403, "ROLE_INSUFFICIENT")
    admin = member.gateway.patch(
        f"/groups/{group}/members/{friend_id}", {"role": "admin"}, token=member.access_token).expect(200)
    assert set(admin) == MEMBER_MEMBERS and admin["role"] == "admin"
    name = f"Renamed {letters(6)}"
    renamed = friend.gateway.patch(f"/groups/{group}", {"name": name}, token=friend.access_token).expect(200)
    assert (renamed["name"], renamed["role"]) == (name, "admin")
    friend.gateway.patch(
        f"/groups/{group}", {"openness": "consent"}, token=friend.access_token).problem(403, "ROLE_INSUFFICIENT")
    member.gateway.patch(
        f"/groups/{group}/members/{awaited_id}", {"role": "admin"}, token=member.access_token
    ).problem(404, "MEMBER_NOT_FOUND")
    member.post(f"/groups/{group}/leave").problem(409, "OWNER_MUST_HAND_OVER")
    handed = member.post(f"/groups/{group}/owner", {"member_id": friend_id}).expect(200)
    assert (handed["owner_user_id"], handed["role"]) == (friend.user_id, "admin")
    for _ in range(2):
        assert member.post(f"/groups/{group}/leave").status == 204
    member.get(f"/groups/{group}").problem(403, "NOT_A_MEMBER")
    assert [each["role"] for each in friend.members(group)] == ["owner", None]


def test_removing_and_deleting(member, party):
    group, friend, friend_id, awaited_id = party
    friend.gateway.send("DELETE", f"/groups/{group}/members/{awaited_id}", token=friend.access_token).problem(403, "ROLE_INSUFFICIENT")
    for each in (awaited_id, friend_id, friend_id):
        assert member.gateway.send("DELETE", f"/groups/{group}/members/{each}", token=member.access_token).status == 204
    friend.get(f"/groups/{group}/members").problem(403, "NOT_A_MEMBER")
    assert len(member.members(group)) == 1
    assert member.gateway.send("DELETE", f"/groups/{group}", token=member.access_token).status == 204
    member.gateway.send("DELETE", f"/groups/{group}", token=member.access_token).problem(403, "NOT_A_MEMBER")
    assert member.get("/groups").expect(200)["groups"] == []


def test_many_at_once(stack, member, friend):
    group = member.create_group()
    people = [Person() for _ in range(40)]
    stack.confidential |= {secret for each in people for secret in each.confidential}
    asked = [{"phone_number": each.phone, "display_name": each.name} for each in people]
    asked += [
        {"phone_number": friend.person.phone, "display_name": friend.person.name}, asked[0],
        {"phone_number": "12", "display_name": "Nobody"}, {"display_name": "Nobody"},
    ]
    results = member.post(f"/groups/{group}/members/batch", {"members": asked}).expect(200)["results"]
    states = [result["member"]["state"] if result["member"] else result["refusal"]["code"] for result in results]
    assert states == ["pending"] * 40 + ["member", "pending", "PHONE_INVALID", "PHONE_INVALID"]
    assert results[40]["member"]["user_id"] == friend.user_id
    assert results[41] == results[0] and results[42]["refusal"]["field"] == "phone_number"
    assert len(member.members(group)) == 42
    member.post(f"/groups/{group}/members/batch", {"members": []}).problem(
        422, "PEOPLE_COUNT_INVALID", [("members", "PEOPLE_COUNT_INVALID")])
    friend_group = friend.create_group()
    member.post(f"/groups/{friend_group}/members/batch", {"members": asked}).problem(403, "NOT_A_MEMBER")


@pytest.mark.parametrize("openness, state", [("confirm", "pending"), ("consent", "invited")])
def test_a_group_that_is_not_open_adds_no_member_at_once(member, friend, openness, state):
    group = member.post("/groups", {"name": "Careful", "openness": openness}).expect(201)
    assert group["openness"] == openness
    added = [member.invite(each, group["id"]) for each in (friend.person, Person())]
    for each in added:
        assert (each["state"], each["user_id"], each["role"]) == (state, None, None)
    assert friend.get("/groups").expect(200)["groups"] == []
    opened = member.gateway.patch(
        f"/groups/{group['id']}", {"openness": "open"}, token=member.access_token).expect(200)
    assert opened["openness"] == "open"
    assert [each["id"] for each in friend.get("/groups").expect(200)["groups"]] == [group["id"]]
    assert [each["state"] for each in member.members(group["id"])] == ["member", "member", "pending"]


@pytest.mark.parametrize("way", ["grpc", "connect-json-http1", "connect-binary-http2"])
def test_by_rpc(stack, member, party, way):
    group, friend, friend_id, awaited_id = party
    with client_of(stack.addresses["gateway"], way) as api:
        mine, theirs = member.access_token, friend.access_token
        told = api.call("GroupService/UpdateGroup", mine, group_id=group, name="By RPC", openness="GROUP_OPENNESS_CONFIRM")
        assert told.group == api.call("GroupService/GetGroup", mine, group_id=group).group
        assert (told.group.name, told.group.openness, told.group.role) == (
            "By RPC", group_pb2.GROUP_OPENNESS_CONFIRM, group_pb2.GROUP_ROLE_OWNER)
        role = {"group_id": group, "member_id": friend_id, "role": "GROUP_ROLE_ADMIN"}
        assert api.call("GroupService/SetMemberRole", mine, **role).member.role == group_pb2.GROUP_ROLE_ADMIN
        api.call("GroupService/RemoveMember", theirs, group_id=group, member_id=awaited_id)
        person = {"phone_number": friend.person.phone, "display_name": friend.person.name}
        results = api.call("GroupService/AddMembers", mine, group_id=group, members=[person, {}]).results
        assert results[0].member.member_id == friend_id and results[1].refusal.reason == "PHONE_INVALID"
        with pytest.raises(Refused) as refused:
            api.call("GroupService/LeaveGroup", mine, group_id=group)
        assert refused.value.reason == "OWNER_MUST_HAND_OVER"
        handed = api.call("GroupService/HandOverGroup", mine, group_id=group, member_id=friend_id).group
        assert handed.owner_user_id == friend.user_id
        api.call("GroupService/LeaveGroup", mine, group_id=group)
        api.call("GroupService/DeleteGroup", theirs, group_id=group)
        assert not api.call("GroupService/ListGroups", theirs).groups
