"""Invitations: who decides whether somebody becomes a member, links without a number, and whom people block."""

import concurrent.futures

import process_table
from app import LINK_SECONDS

INVITATION_MEMBERS = {
    "id", "group_id", "group_name", "waits_for", "added_by_user_id", "request", "since", "expires_at"}
PENDING_MEMBERS = {
    "id", "state", "user_id", "phone_number", "display_name", "added_by_user_id", "since", "expires_at", "may_confirm"}
LINK_MEMBERS = {"id", "created_by_user_id", "created_at", "expires_at", "uses_max", "uses"}


def group_of(app, openness):
    return app.post("/groups", {"name": "Sunday lunch", "openness": openness}).expect(201)["id"]


def invitations(app):
    return app.get("/invitations").expect(200)["invitations"]


def pending(app, group):
    return app.get(f"/groups/{group}/pending").expect(200)["people"]


def decide(app, group, member_id, answer, body=None):
    return app.post(f"/groups/{group}/members/{member_id}/{answer}", body)


def registered(new_app):
    app = new_app()
    app.sign_in()
    app.complete()
    return app


def wait_for_invitation(app):
    """The number travels to the groups' service by profile's queue phone_events."""
    return process_table.wait_until(lambda: invitations(app), LINK_SECONDS, "the invitation")


def test_the_invited_accepts(member, new_app):
    guest = registered(new_app)
    group = group_of(member, "consent")
    invited = member.invite(guest.person, group)
    assert (invited["state"], invited["user_id"], invited["role"]) == ("invited", None, None)
    (invitation,) = wait_for_invitation(guest)
    assert set(invitation) == INVITATION_MEMBERS
    assert (invitation["id"], invitation["group_id"], invitation["group_name"]) == (invited["id"], group, "Sunday lunch")
    assert (invitation["waits_for"], invitation["added_by_user_id"], invitation["request"]) == (
        "consent", member.user_id, False)
    # Until then neither side learns of the other.
    guest.get(f"/groups/{group}/members").problem(403, "NOT_A_MEMBER")
    (seen,) = pending(member, group)
    assert set(seen) == PENDING_MEMBERS
    assert (seen["state"], seen["user_id"], seen["may_confirm"]) == ("number", None, False)
    accepted = decide(guest, group, invited["id"], "accept").expect(200)
    assert (accepted["id"], accepted["state"], accepted["user_id"], accepted["role"]) == (
        invited["id"], "member", guest.user_id, "member")
    assert decide(guest, group, invited["id"], "accept").expect(200) == accepted
    assert guest.members(group) == member.members(group)
    assert invitations(guest) == []


def test_the_invited_declines_and_nobody_learns_of_it(member, new_app):
    guest = registered(new_app)
    group = group_of(member, "consent")
    invited = member.invite(guest.person, group)
    wait_for_invitation(guest)
    before = pending(member, group)
    for _ in range(2):
        decide(guest, group, invited["id"], "decline").expect(204)
    assert invitations(guest) == []
    assert pending(member, group) == before
    assert member.invite(guest.person, group) == invited
    decide(member, group, invited["id"], "decline").problem(404, "INVITATION_NOT_FOUND")


def test_the_group_confirms(member, new_app):
    guest = registered(new_app)
    group = group_of(member, "confirm")
    waiting = member.invite(guest.person, group)
    assert (waiting["state"], waiting["user_id"]) == ("pending", None)
    (invitation,) = wait_for_invitation(guest)
    assert invitation["waits_for"] == "confirmation"
    decide(guest, group, waiting["id"], "accept").problem(400, "CONFIRMATION_NEEDED")
    (person,) = pending(member, group)
    assert (person["user_id"], person["may_confirm"]) == (guest.user_id, True)
    decide(member, group, waiting["id"], "confirm", {"user_id": member.user_id}).problem(409, "PERSON_CHANGED")
    decide(member, group, waiting["id"], "confirm", {}).problem(400, "REQUEST_INVALID", [("user_id", "REQUIRED")])
    confirmed = decide(member, group, waiting["id"], "confirm", {"user_id": person["user_id"]}).expect(200)
    assert (confirmed["state"], confirmed["user_id"]) == ("member", guest.user_id)
    assert guest.group_ids() == [group]
    assert pending(member, group) == []


def test_an_admin_who_is_put_out_has_no_way_back(member, new_app):
    """By a link that they made when they were one, good for 90 days."""
    guest = registered(new_app)
    group = group_of(member, "open")
    admin = member.invite(guest.person, group)["id"]
    guest.wait_for_group(group)
    member.gateway.patch(f"/groups/{group}/members/{admin}", {"role": "admin"}, token=member.access_token).expect(200)
    token = guest.post(f"/groups/{group}/links", {"lifetime_seconds": 7_776_000}).expect(201)["token"]
    guest.stack.confidential.add(token)
    member.gateway.send("DELETE", f"/groups/{group}/members/{admin}", token=member.access_token).expect(204)
    late = new_app()
    late.sign_in()
    for app in (guest, late):
        assert app.post("/groups/links/join", {"token": token}).status == 400
        app.get(f"/groups/{group}/members").problem(403, "NOT_A_MEMBER")
    assert member.get(f"/groups/{group}/links").expect(200)["links"] == []


def test_a_link_without_a_number(member, new_app):
    guest, late = new_app(), new_app()
    for app in (guest, late):
        app.sign_in()
    group = group_of(member, "open")
    made = member.post(f"/groups/{group}/links", {"uses_max": 1}).expect(201)
    assert set(made) == LINK_MEMBERS | {"token"}
    token = {"token": made.pop("token")}
    (listed,) = member.get(f"/groups/{group}/links").expect(200)["links"]
    assert listed == made
    preview = guest.post("/groups/links/preview", token).expect(200)
    assert (preview["group_id"], preview["group_name"], preview["openness"], preview["member"]) == (
        group, "Sunday lunch", "open", False)
    joined = guest.post("/groups/links/join", token).expect(200)
    assert (joined["group_id"], joined["state"]) == (group, "member")
    assert guest.post("/groups/links/join", token).expect(200) == joined
    assert guest.group_ids() == [group]
    late.post("/groups/links/join", token).problem(400, "LINK_OVER")
    guest.post(f"/groups/{group}/links", {}).problem(403, "ROLE_INSUFFICIENT")
    member.gateway.send("DELETE", f"/groups/{group}/links/{made['id']}", token=member.access_token).expect(204)
    late.post("/groups/links/join", {"token": "A" * 43}).problem(404, "LINK_INVALID")


def test_who_comes_by_a_link_is_confirmed(member, new_app):
    guest = new_app()
    guest.sign_in()
    group = group_of(member, "confirm")
    token = {"token": member.post(f"/groups/{group}/links", {}).expect(201)["token"]}
    asked = guest.post("/groups/links/join", token).expect(200)
    assert asked["state"] == "pending"
    (invitation,) = invitations(guest)
    assert (invitation["id"], invitation["request"], invitation["added_by_user_id"]) == (asked["member_id"], True, None)
    (person,) = pending(member, group)
    assert (person["state"], person["user_id"], person["phone_number"]) == ("request", guest.user_id, None)
    confirmed = decide(member, group, asked["member_id"], "confirm", {"user_id": guest.user_id}).expect(200)
    assert confirmed["id"] == asked["member_id"]
    assert guest.group_ids() == [group]


def test_many_come_by_one_link_at_once(member, new_app):
    guests = [new_app() for _ in range(6)]
    for guest in guests:
        guest.sign_in()
    group = group_of(member, "open")
    token = {"token": member.post(f"/groups/{group}/links", {"uses_max": 3}).expect(201)["token"]}
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda guest: guest.post("/groups/links/join", token).status, guests))
    assert sorted(answers) == [200] * 3 + [400] * 3
    assert len(member.members(group)) == 4


def test_who_is_blocked_adds_nobody(member, new_app):
    guest = registered(new_app)
    path = f"/me/blocked-inviters/{member.user_id}"
    send = guest.gateway.send
    for _ in range(2):
        send("PUT", path, token=guest.access_token).expect(204)
    (blocked,) = guest.get("/me/blocked-inviters").expect(200)["inviters"]
    assert blocked["user_id"] == member.user_id
    open_group, consent = group_of(member, "open"), group_of(member, "consent")
    # The number has come once somebody else's addition is a member at once.
    other = registered(new_app)
    others = other.create_group()
    process_table.wait_until(
        lambda: other.invite(guest.person, others)["state"] == "member", LINK_SECONDS, "the number")
    for group, state in ((open_group, "pending"), (consent, "invited")):
        added = member.invite(guest.person, group)
        assert (added["state"], added["user_id"]) == (state, None)
    assert guest.group_ids() == [others]
    assert invitations(guest) == []
    for _ in range(2):
        send("DELETE", path, token=guest.access_token).expect(204)
    assert set(guest.group_ids()) == {others, open_group}
    assert [invitation["group_id"] for invitation in invitations(guest)] == [consent]
    send("PUT", "/me/blocked-inviters/nobody", token=guest.access_token).problem(
        422, "USER_ID_INVALID", [("user_id", "USER_ID_INVALID")])


def test_a_group_that_opens_takes_in_who_waits(member, new_app):
    guest = registered(new_app)
    group = group_of(member, "consent")
    invited = member.invite(guest.person, group)
    wait_for_invitation(guest)
    member.gateway.patch(f"/groups/{group}", {"openness": "open"}, token=member.access_token).expect(200)
    assert [each["id"] for each in member.members(group) if each["user_id"] == guest.user_id] == [invited["id"]]
