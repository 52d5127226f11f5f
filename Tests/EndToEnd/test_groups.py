"""Groups: members, and pending members that wait for a phone number, in any order of events."""

import concurrent.futures
import uuid

import pytest

import process_table
from app import GROUP_MEMBERS, LINK_SECONDS, MEMBER_MEMBERS, App, Person, letters


def state_of(app, group, member_id):
    (found,) = [member for member in app.members(group) if member["id"] == member_id]
    return found["state"], found["user_id"]


def wait_for_link(app, group, member_id, user_id):
    process_table.wait_until(
        lambda: state_of(app, group, member_id) == ("member", user_id), LINK_SECONDS, "the pending member's link")


def test_a_new_group(member):
    name = f"Sunday lunch {letters(5)} 🍚"
    group = member.post("/groups", {"name": f" {name} "}).expect(201)
    assert set(group) == GROUP_MEMBERS
    assert (group["name"], group["owner_user_id"]) == (name, member.user_id)
    listing = member.get("/groups").expect(200)
    assert listing == {"groups": [group], "next_page_token": None}
    answer = member.get(f"/groups/{group['id']}/members").expect(200)
    assert set(answer) == {"members", "next_page_token"} and answer["next_page_token"] is None
    (creator,) = answer["members"]
    assert set(creator) == MEMBER_MEMBERS
    assert (creator["state"], creator["user_id"], creator["phone_number"]) == ("member", member.user_id, None)
    assert creator["display_name"] == member.person.name


def test_a_group_is_created_once_for_each_key(member):
    key = {"Idempotency-Key": f'"{uuid.uuid4()}"'}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: member.post("/groups", {"name": "Hikers"}, headers=key).expect(201), range(4)))
    assert all(answer == answers[0] for answer in answers), answers
    assert member.get("/groups").expect(200)["groups"] == [answers[0]]
    member.post("/groups", {"name": "Climbers"}, headers=key).problem(
        422, "IDEMPOTENCY_KEY_REUSED", [("idempotency_key", "IDEMPOTENCY_KEY_REUSED")])
    member.post("/groups", {"name": "Hikers"}, headers={"Idempotency-Key": "1"}).problem(400, "IDEMPOTENCY_KEY_INVALID")


def test_a_new_user_has_no_groups(app):
    assert app.get("/groups").expect(200) == {"groups": [], "next_page_token": None}


def test_a_creator_without_a_name(app):
    group = app.create_group()
    assert app.members(group)[0]["display_name"] is None


def test_invited_before_registering(member, stack):
    guest = Person()
    group = member.create_group()
    pending = member.invite(guest, group, phone=f"0{guest.digits}")
    assert set(pending) == MEMBER_MEMBERS
    assert (pending["state"], pending["user_id"]) == ("pending", None)
    assert (pending["phone_number"], pending["display_name"]) == (guest.phone, guest.name)

    app = App(stack, guest)
    app.sign_in("google")
    assert app.group_ids() == []
    app.complete()
    app.wait_for_group(group)
    wait_for_link(member, group, pending["id"], app.user_id)
    # Now the guest sees what the other members see.
    assert app.members(group) == member.members(group)
    assert len(member.members(group)) == 2


def test_invited_after_registering(member, new_app):
    guest = new_app()
    guest.sign_in()
    guest.complete()
    # Invites gets the number first; a group that links at once shows when it has arrived.
    group = member.create_group()
    added = process_table.wait_until(
        lambda: next((m for m in [member.invite(guest.person, group)] if m["state"] == "member"), None), LINK_SECONDS,
        "a member")
    assert (added["state"], added["user_id"]) == ("member", guest.user_id)
    assert guest.group_ids() == [group]
    # From now on an invitation of that number adds a member at once.
    another = member.create_group()
    assert member.invite(guest.person, another)["state"] == "member"
    assert guest.group_ids() == [another, group]


def test_invited_while_registering(member, stack):
    for _ in range(4):
        guest = App(stack, Person())
        guest.sign_in()
        group = member.create_group()
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            saved = pool.submit(guest.complete)
            invited = [pool.submit(member.invite, guest.person, group) for _ in range(2)]
            saved.result()
            assert len({each.result()["id"] for each in invited}) == 1, "two members for one person"
        guest.wait_for_group(group)
        members = member.members(group)
        assert [each["user_id"] for each in members] == [member.user_id, guest.user_id]


def test_adding_again_returns_the_existing_member(member):
    guest = Person()
    group = member.create_group()
    body = {"phone_number": guest.phone, "display_name": guest.name}
    first = member.post(f"/groups/{group}/members", body).expect(201)
    assert member.post(f"/groups/{group}/members", body).expect(200) == first
    for notation in (guest.digits, f"0063{guest.digits}"):
        assert member.invite(guest, group, phone=notation) == first
    assert len(member.members(group)) == 2


def test_all_groups_that_wait_for_a_number_get_their_member(member, stack):
    guest = Person()
    groups = [member.create_group() for _ in range(3)]
    for group in groups:
        member.invite(guest, group)
    app = App(stack, guest)
    app.sign_in()
    app.complete()
    for group in groups:
        app.wait_for_group(group)
    assert app.group_ids() == groups[::-1], "newest first"


def test_a_new_number_links_too(member, new_app):
    guest, awaited = new_app(), Person()
    guest.sign_in()
    guest.complete()
    group = member.create_group()
    member.invite(awaited, group)
    guest.save(phone_number=awaited.phone).expect(200)
    guest.wait_for_group(group)


def test_every_member_may_invite_once_confirmed(member, new_app):
    """Anybody may type a pending number: a member by such a number adds nobody before the group confirms them."""
    guest, friend = new_app(), Person()
    guest.sign_in()
    group = member.create_group()
    awaited = member.invite(guest.person, group)
    guest.complete()
    guest.wait_for_group(group)
    (_, joined) = member.members(group)
    assert (joined["id"], joined["unproven"], joined["unconfirmed"]) == (awaited["id"], True, False)
    person = {"phone_number": friend.phone, "display_name": friend.name}
    refused = guest.post(f"/groups/{group}/members", person).problem(403, "MEMBER_UNCONFIRMED")
    assert refused["detail"] == "Somebody of the group must confirm you before you can add or confirm people."
    guest.post(f"/groups/{group}/members/batch", {"members": [person]}).problem(403, "MEMBER_UNCONFIRMED")
    confirm = f"/groups/{group}/members/{joined['id']}/confirm"
    guest.post(confirm, {"user_id": guest.user_id}).problem(403, "ROLE_INSUFFICIENT")
    assert member.post(confirm, {"user_id": guest.user_id}).expect(200)["unproven"] is False
    assert guest.invite(friend, group)["state"] == "pending"
    assert len(member.members(group)) == 3


def test_who_may_see_a_number(member, stack, new_app):
    """The person's inviters, admins, the owner, and the person."""
    guests, group = [new_app() for _ in range(2)], member.create_group()
    for guest in guests:
        guest.sign_in()
        member.invite(guest.person, group)
        guest.complete()
        guest.wait_for_group(group)
    first, second = guests
    awaited = member.invite(Person(), group)

    def numbers(app):
        return [each["phone_number"] for each in app.members(group)]

    def pending(app):
        return [each["phone_number"] for each in app.get(f"/groups/{group}/pending").expect(200)["people"]]

    everything = [None, first.person.phone, second.person.phone, awaited["phone_number"]]
    assert numbers(member) == everything and pending(member) == [awaited["phone_number"]]
    assert numbers(first) == [None, first.person.phone, None, None] and pending(first) == [None]
    assert numbers(second) == [None, None, second.person.phone, None]
    row = first.members(group)[1]["id"]
    member.gateway.patch(f"/groups/{group}/members/{row}", {"role": "admin"}, token=member.access_token).expect(200)
    assert numbers(first) == everything and pending(first) == [awaited["phone_number"]]


def test_a_name_of_one_character(member):
    path = f"/groups/{member.create_group()}/members"
    for name in ("李", "J"):
        member.post(path, {"phone_number": Person().phone, "display_name": name}).expect(201)
    assert [each["display_name"] for each in member.get(path).expect(200)["members"][1:]] == ["李", "J"]
    # A display name chosen by the user needs two.
    member.save(display_name="李").problem(422, "DISPLAY_NAME_INVALID", [("display_name", "DISPLAY_NAME_INVALID")])


def test_outsiders(member, new_app):
    outsider = new_app()
    outsider.sign_in()
    group = member.create_group()
    invitation = {"phone_number": Person().phone, "display_name": "Somebody Else"}
    # Nobody else may learn whether a group exists: a missing group gets the same answer.
    for path in (f"/groups/{group}/members", f"/groups/{uuid.uuid4()}/members"):
        outsider.get(path).problem(403, "NOT_A_MEMBER")
        outsider.post(path, invitation).problem(403, "NOT_A_MEMBER")
    assert len(member.members(group)) == 1


@pytest.mark.parametrize("group", ["x", "0", "018f0000-0000-7000-8000-00000000000g"])
def test_malformed_group_ids(member, group):
    member.get(f"/groups/{group}/members").problem(404, "GROUP_NOT_FOUND")


@pytest.mark.parametrize("name", ["   ", "x" * 81, "two\nlines", "\u200b"], ids=range(4))
def test_bad_group_names(app, name):
    app.post("/groups", {"name": name}).problem(422, "GROUP_NAME_INVALID", [("name", "GROUP_NAME_INVALID")])
    assert app.group_ids() == []


def test_malformed_group_requests(app):
    app.post("/groups", {}).problem(400, "REQUEST_INVALID", [("name", "REQUIRED")])
    app.post("/groups", {"name": ""}).problem(400, "REQUEST_INVALID", [("name", "REQUIRED")])
    app.post("/groups", {"name": 5}).problem(400, "REQUEST_INVALID", [("name", "WRONG_TYPE")])
    path = f"/groups/{app.create_group()}/members"
    app.post(path, {}).problem(400, "REQUEST_INVALID", [("phone_number", "REQUIRED"), ("display_name", "REQUIRED")])
    app.post(path, {"phone_number": [], "display_name": 1}).problem(
        400, "REQUEST_INVALID", [("phone_number", "WRONG_TYPE"), ("display_name", "WRONG_TYPE")])


def test_bad_invitations(member):
    path = f"/groups/{member.create_group()}/members"
    member.post(path, {"phone_number": "12", "display_name": " \u200b "}).problem(422, "PHONE_INVALID", [
        ("phone_number", "PHONE_INVALID"), ("display_name", "DISPLAY_NAME_INVALID")])
    member.post(path, {"phone_number": "+63 2 8123 4567", "display_name": "Land Line"}).problem(
        422, "PHONE_INVALID", [("phone_number", "PHONE_INVALID")])


def test_pages(member, new_app):
    groups = [member.create_group() for _ in range(5)][::-1]
    seen, path = [], "/groups?page_size=2"
    for expected in (2, 2, 1):
        page = member.get(path).expect(200)
        assert len(page["groups"]) == expected
        seen += [group["id"] for group in page["groups"]]
        path = f"/groups?page_size=2&page_token={page['next_page_token']}"
    assert seen == groups and page["next_page_token"] is None

    for number in range(3):
        member.invite(Person(), groups[0])
    first = member.get(f"/groups/{groups[0]}/members?page_size=3").expect(200)
    token = first["next_page_token"]
    second = member.get(f"/groups/{groups[0]}/members?page_size=3&page_token={token}").expect(200)
    assert first["members"] + second["members"] == member.members(groups[0])
    assert second["next_page_token"] is None

    for size in ("0", "-1", "101", "x", ""):
        member.get(f"/groups?page_size={size}").problem(400, "REQUEST_INVALID", [("page_size", "PAGE_SIZE_INVALID")])
    # A token of another list, group or account is invalid here, and so is one that was changed.
    of_groups = member.get("/groups?page_size=2").expect(200)["next_page_token"]
    changed = [of_groups[:-1], of_groups + "A", "_" + of_groups[1:]]
    stranger = new_app()
    stranger.sign_in()
    refused = [(member, "/groups", other) for other in (token, "x", "1-" + "z" * 32, "A" * 999, *changed)]
    refused += [(member, f"/groups/{groups[1]}/members", token), (stranger, "/groups", of_groups)]
    for app, path, other in refused:
        app.get(f"{path}?page_token={other}").problem(
            422, "INVALID_CURSOR", [("page_token", "INVALID_CURSOR")])
