"""Deletions that are delivered while users sign in: their cost for sign-ins.

Accounts have just been deleted at identity. Profile and invites have a number, a profile and a group of each, and are notified one by
one. Sign-ins are made at a fixed rate, before and meanwhile, all on the same cores; nothing is pinned.
"""

import os
import statistics
import time

from processes import BenchError
from report import Bar, Figure
from service_stack import service_stack

RATIO_MAX = 1.5
SIGN_INS_PER_SECOND = 100
# Each run's p99 stands on so many sign-ins at least.
SECONDS_MIN = 10
SQL_SECONDS_MAX = 600
DRAIN_SECONDS_MAX = 1_800
IDENTIFIER = "md5('deleted ' || n)::uuid"
PHONE = "(15550000000 + n)::text"


def _insert(stack, count):
    """What profile and invites have of people whose accounts identity has no more."""
    numbers = f"generate_series(1, {count}) AS n"
    group = "md5('group ' || n)::uuid"
    stack.sql(f"""
        INSERT INTO profile.profiles (user_id, display_name, phone, updated_at)
            SELECT {IDENTIFIER}, 'Somebody', {PHONE}, now() FROM {numbers};
        INSERT INTO profile.phones (phone, user_id, claimed_at) SELECT {PHONE}, {IDENTIFIER}, now() FROM {numbers};
        INSERT INTO invites.phones (phone, user_id) SELECT {PHONE}, {IDENTIFIER} FROM {numbers};
        INSERT INTO invites.groups (group_id, name, owner_user_id, created_by, created_at)
            SELECT {group}, 'Group', {IDENTIFIER}, {IDENTIFIER}, now() FROM {numbers};
        INSERT INTO invites.members (group_id, member_id, user_id, added_by, added_at, linked_at)
            SELECT {group}, md5('member ' || n)::uuid, {IDENTIFIER}, {IDENTIFIER}, now(), now() FROM {numbers};""",
        timeout_seconds=SQL_SECONDS_MAX)
    for table in ("profile.profiles", "profile.phones", "invites.phones", "invites.groups", "invites.members"):
        stack.sql(f"VACUUM (ANALYZE) {table}", timeout_seconds=SQL_SECONDS_MAX)
    stack.sql("CHECKPOINT", timeout_seconds=SQL_SECONDS_MAX)


def _delete(stack, count):
    """Has them deleted at identity, all in one moment."""
    numbers = f"generate_series(1, {count}) AS n"
    stack.sql(f"""
        SET search_path = identity;
        BEGIN;
        INSERT INTO account_closings (user_id, why, closed_at) SELECT {IDENTIFIER}, 'deleted', now() FROM {numbers};
        INSERT INTO work (queue, event_id, user_id, created_at)
            SELECT 'closings.' || receiver, gen_random_uuid(), {IDENTIFIER}, now()
            FROM {numbers}, (VALUES ('profile'), ('invites')) AS receivers (receiver) ORDER BY n;
        COMMIT;
        ANALYZE work;""", timeout_seconds=SQL_SECONDS_MAX)


def _waiting(stack):
    return int(stack.sql("SELECT count(*) FROM identity.work WHERE queue LIKE 'closings.%'"))


def _sign_ins(stack, options):
    """A run of them: its p99 and median, in milliseconds."""
    total = stack.load(
        "sign-in", duration=f"{max(SECONDS_MIN, options.seconds)}s", warm_up="1s", rate=SIGN_INS_PER_SECOND)["total"]
    return total["latency_ns"]["p99"] / 1e6, total["latency_ns"]["p50"] / 1e6


def _drained(stack, options, usual_count):
    """Runs of sign-ins until all deletions are delivered; returns those that ended before."""
    began, found = time.monotonic(), []
    while True:
        run = _sign_ins(stack, options)
        waiting = _waiting(stack)
        if waiting:
            found.append(run)
            options.say(f"{waiting:9,} undelivered   sign-ins p99 {run[0]:6.1f} ms, median {run[1]:5.1f} ms")
        elif found:
            return found
        else:
            raise BenchError(f"all were delivered within one run of {SIGN_INS_PER_SECOND} sign-ins per second: more deletions are needed")
        if time.monotonic() - began > DRAIN_SECONDS_MAX:
            raise BenchError(f"{waiting} of {usual_count} are still undelivered after {DRAIN_SECONDS_MAX} seconds")


def _told_seconds(stack):
    """The time from the first deletion to the last delivery."""
    return float(stack.sql(
        "SELECT extract(epoch FROM max(GREATEST(profile_done_at, invites_done_at)) - min(closed_at)) "
        "FROM identity.account_closings"))


def _check_forgotten(stack):
    left = stack.sql(f"""
        SELECT (SELECT count(*) FROM profile.phones) + (SELECT count(*) FROM profile.profiles)
            + (SELECT count(*) FROM invites.groups WHERE name = 'Group')
            + (SELECT count(*) FROM identity.account_closings WHERE profile_done_at IS NULL OR invites_done_at IS NULL)""")
    if left != "0":
        raise BenchError(f"{left} rows of deleted accounts are left")


def measure(options, scratch):
    """Gives the figures, a bar, and notes."""
    count = options.deletions
    with service_stack(options, os.path.join(scratch, "deletions")) as stack:
        _insert(stack, count)
        usual = [_sign_ins(stack, options) for _ in range(options.rounds)]
        for p99, median in usual:
            options.say(f"            none   sign-ins p99 {p99:6.1f} ms, median {median:5.1f} ms")
        _delete(stack, count)
        meanwhile = _drained(stack, options, count)
        seconds = _told_seconds(stack)
        _check_forgotten(stack)
    before, during = (statistics.median(p99 for p99, _ in runs) for runs in (usual, meanwhile))
    ratio = during / before
    figures = [
        Figure(f"{count:,} deletions, delivered to profile and invites", f"{count / seconds:,.0f} /s", "",
               f"{seconds:.0f} s beside {SIGN_INS_PER_SECOND} sign-ins a second"),
        Figure("sign-ins while nothing waits, p99", f"{before:.1f} ms", "",
               f"median {statistics.median(median for _, median in usual):.1f} ms"),
        Figure("sign-ins meanwhile, p99", f"{during:.1f} ms", "",
               f"median {statistics.median(median for _, median in meanwhile):.1f} ms; {len(meanwhile)} runs"),
    ]
    return figures, [Bar(
        f"p99 of sign-ins while {count:,} deletions are delivered, over the usual", f"{ratio:.2f} ×", f"under {RATIO_MAX} ×",
        ratio < RATIO_MAX)], [
        f"Deletions: profile and invites had a number, a profile and a group of each; {SIGN_INS_PER_SECOND} sign-ins a second, of "
        "which each run has its own p99 and the median run counts; all programs and PostgreSQL on all cores."]
