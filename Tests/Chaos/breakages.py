"""What a fault of the product would leave behind, made by hand: each must be found, or the checks are worth nothing."""

import os
import signal

import process_table

# How each is made, and what of a finding tells it.
BY_SQL = {
    # An event that was parked.
    "INSERT INTO profile.work (queue, event_id, key, user_id, created_at, data, parked_at, failure) VALUES "
    "('phone_events', gen_random_uuid(), '639170000000', gen_random_uuid(), now(), '{\"kind\": \"claimed\"}', now(), 'BAD')":
        "work left in profile.work",
    # A number whose news was lost.
    "UPDATE invites.phones SET user_id = NULL WHERE phone = (SELECT max(phone) FROM profile.phones)":
        "numbers of which invites knows another holder",
    # An acknowledged save that is missing.
    "UPDATE profile.profiles SET display_name = 'Somebody Else' WHERE user_id = "
    "(SELECT user_id FROM profile.phones ORDER BY phone LIMIT 1)": "acknowledged {'display_name'",
    # An honest session that ended.
    "UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'reuse' WHERE user_id = "
    "(SELECT user_id FROM profile.phones ORDER BY phone OFFSET 1 LIMIT 1)": "an honest session ended",
    # A lost sign-out.
    "WITH told AS (DELETE FROM identity.revocations) "
    "UPDATE identity.sessions SET revoked_at = NULL, revoke_reason = NULL, expires_at = now() + interval '1 day' "
    "WHERE revoke_reason = 'sign_out'":
        "a session that was signed out of goes on",
    # An account's deletion that was delivered to all services but one.
    "INSERT INTO invites.members (group_id, member_id, user_id, added_by, added_at, linked_at) "
    "SELECT max(group_id::text)::uuid, gen_random_uuid(), (SELECT user_id FROM invites.closed_accounts LIMIT 1), "
    "gen_random_uuid(), now(), now() FROM invites.groups": "members whose account was deleted",
    # A lost link between member and user.
    "UPDATE invites.members SET user_id = NULL, linked_at = NULL WHERE member_id = ("
    "SELECT m.member_id FROM invites.members m JOIN profile.phones p ON p.phone = m.phone AND p.user_id = m.user_id "
    "ORDER BY 1 LIMIT 1)": "numbers that somebody has and that are still pending",
    # Lost pending members.
    "DELETE FROM invites.members WHERE user_id IS NULL AND group_id = (SELECT group_id FROM invites.members "
    "WHERE user_id IS NULL GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1)": "and is not there: [",
    # A group without an owner.
    "UPDATE invites.groups SET owner_user_id = gen_random_uuid() WHERE group_id = (SELECT min(group_id::text)::uuid FROM "
    "invites.groups)": "groups whose owner is in them no more",
    # A lost group.
    "DELETE FROM invites.groups WHERE group_id = (SELECT max(group_id::text)::uuid FROM invites.groups)":
        "was acknowledged and is not there",
}
BY_HAND = {
    # Killed, and not by the supervisor. What identity keeps in memory of ended sessions ends with it.
    "a program that dies": "identity ended by itself",
    "a program that says it has a fault": "gateway-by-hand.log says",
}


def make(parts):
    """Breaks everything; returns what must be found, by what was done."""
    stack = parts.stack
    for sql in BY_SQL:
        # As no statement of a service could: foreign keys are left unchecked.
        done = stack.sql(f"SET session_replication_role = replica; {sql} RETURNING 1")
        assert done, f"nothing to break by {sql}"
    identity = stack.process_of("identity")
    os.kill(identity, signal.SIGKILL)
    # Until it can be collected, which is after the end of its last thread: its first one looks ended before.
    process_table.wait_until(lambda: "identity" not in parts.running, 10, "the end of identity")
    with (stack.folder / "logs/gateway-by-hand.log").open("a") as log:
        log.write("2026-01-01T00:00:00.000Z error    gateway: something that nobody expects\n")
    return BY_SQL | BY_HAND
