"""What a call costs profile, invites and PostgreSQL when their tables have ten million rows, beside the same with ten thousand: processor
time, which also grows where a plan or an index is a wrong one.

Rows are made by SQL, as calls leave them: profiles with a number each, known to invites, and members of groups of a hundred. Numbers
that are saved and asked for lie all over the same range; the groups that are read, all over the table.
"""

import contextlib
import os
import random
import statistics
import time

import known_sessions
from claims_bench import PHONES, await_phones, drained_seconds, phone
from groups_bench import LIMITS, add_people, ask
from processes import BenchError, children, cpu_and_waiting_ns
from report import Bar, Figure
from service_stack import claims_of, service_stack

FEW = 10_000
RATIO_MAX = 1.3
SQL_SECONDS_MAX = 1_800
GROUP_MEMBERS = 100
# Rows in one statement, to show the progress.
CHUNK = 1_000_000
# Of the sequence of numbers that are saved; each turn has its own.
CLAIMS = 8_000
WORKERS = 16
READS, ADDITIONS = 300, 6
PARTS = ("a number saved, told and linked", "a page of a hundred members, with names", "a person added, of 500 in one request")
TABLES = ("profile.profiles", "profile.phones", "invites.phones", "invites.groups", "invites.members")
# Even numbers; the sequence that is saved has the odd ones.
PHONE = "(639170000000 - (n / 5000000) * 10000000::bigint + (n % 5000000) * 2)::text"
USER = "lpad(to_hex(n + x'100000000'::bigint), 32, '0')::uuid"
# The owner of all groups: neither the reader nor the adder, whose groups are counted.
OWNER = "md5('owner of rows')::uuid"
GROUP = f"lpad(to_hex(n / {GROUP_MEMBERS} + x'200000000'::bigint), 32, '0')::uuid"


def fill(stack, options, before, count, reader):
    """Makes the rows from `before` to `count`. The reader is a member of each group."""
    stack.sql("ALTER SYSTEM SET max_wal_size = '16GB'")
    # It would come at any moment of what is measured, and is no call's. What it does is done below.
    stack.sql("ALTER SYSTEM SET autovacuum = off")
    stack.sql("SELECT pg_reload_conf()")
    for first in range(before, count, CHUNK):
        last = min(first + CHUNK, count) - 1
        numbers = f"generate_series({first}, {last}) AS n"
        stack.sql(f"""
            SET session_replication_role = replica;
            SET synchronous_commit = off;
            INSERT INTO profile.profiles (user_id, display_name, phone, updated_at)
                SELECT {USER}, 'Some One', {PHONE}, now() FROM {numbers};
            INSERT INTO profile.phones (phone, user_id, claimed_at) SELECT {PHONE}, {USER}, now() FROM {numbers};
            INSERT INTO invites.phones (phone, user_id) SELECT {PHONE}, {USER} FROM {numbers};
            INSERT INTO invites.groups (group_id, name, owner_user_id, created_by, created_at)
                SELECT DISTINCT {GROUP}, 'Group', {OWNER}, {OWNER}, now() FROM {numbers};
            INSERT INTO invites.members (group_id, member_id, user_id, phone, added_by, added_at, linked_at)
                SELECT {GROUP}, {USER}, CASE WHEN n % {GROUP_MEMBERS} = 0 THEN '{reader}'::uuid ELSE {USER} END,
                    CASE WHEN n % {GROUP_MEMBERS} > 0 THEN {PHONE} END, {OWNER}, now(), now()
                FROM {numbers};""", timeout_seconds=SQL_SECONDS_MAX)
        options.say(f"{last + 1:12,} rows in each table")
    for table in TABLES:
        stack.sql(f"VACUUM (ANALYZE) {table}", timeout_seconds=SQL_SECONDS_MAX)
    stack.sql("CHECKPOINT", timeout_seconds=SQL_SECONDS_MAX)


class Meter:
    """Processor time of profile, invites and PostgreSQL, its sessions included that have ended."""

    def __init__(self, stack):
        self.stack = stack
        self.before = self._now()

    def _now(self):
        processes = [self.stack.process_of("profile"), self.stack.process_of("invites"), *children(self.stack.postmaster)]
        used = {}
        for process in processes:
            # One that ended just now is as one that ended before.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                used[process] = cpu_and_waiting_ns(process)[0]
        return used

    def ns(self):
        """So many were used since."""
        return sum(used - self.before.get(process, 0) for process, used in self._now().items())


def _claims(stack, options, scratch, turn):
    sessions = known_sessions.tokens(stack, os.path.join(scratch, "rows-tokens"), CLAIMS, first=1 + CLAIMS * turn)
    meter = Meter(stack)
    # So slow that nothing depends on how many are in flight.
    total = stack.load(
        "claim-phone", duration=f"{options.seconds}s", warm_up="0s", workers=WORKERS, rate=CLAIMS // (2 * options.seconds),
        sessions=sessions, first_phone=phone(CLAIMS * turn))["total"]
    drained_seconds(stack)
    return meter.ns() / total["succeeded"]


def _reads(stack, token, count, chance):
    groups = stack.sql(
        "SELECT " + ", ".join(f"lpad(to_hex({chance.randrange(count // GROUP_MEMBERS)} + x'200000000'::bigint), 32, '0')::uuid"
                              for _ in range(READS))).split("|")
    meter = Meter(stack)
    for group in groups:
        if len(ask(stack, "GET", f"/groups/{group}/members?page_size=100", token)["members"]) != GROUP_MEMBERS:
            raise BenchError("a page has not all members of its group")
    return meter.ns() / READS


def _additions(stack, token, count, turn):
    # All over the numbers that are users', every second of which one is.
    step = 2 * min(count, PHONES // 2) // 500 - 1
    groups = [ask(stack, "POST", "/groups", token, {"name": "Group"})["id"] for _ in range(ADDITIONS)]
    meter = Meter(stack)
    for place, group in enumerate(groups):
        add_people(stack, token, group, 639_170_000_000 + place + ADDITIONS * turn, step)
    return meter.ns() / (ADDITIONS * 500)


def _costs(stack, options, scratch, count, token, first_turn):
    chance = random.Random(count)
    found = []
    for turn in range(options.rounds):
        costs = [
            _claims(stack, options, scratch, first_turn + turn), _reads(stack, token, count, chance),
            _additions(stack, token, count, first_turn + turn)]
        found.append(costs)
        options.say(f"{count:12,} rows {turn + 1}/{options.rounds}   " + "   ".join(
            f"{name}: {cost / 1e3:.0f} µs" for name, cost in zip(PARTS, costs)))
    return [statistics.median(costs) for costs in zip(*found)]


def measure(options, scratch):
    """Gives the figures, a bar for each kind of call, and notes."""
    many = options.rows
    began = time.monotonic()
    with service_stack(options, os.path.join(scratch, "rows"), **LIMITS) as stack:
        token = stack.access_token()
        reader = claims_of(token)["sub"]
        # The first turn of each is for what is done once.
        known_sessions.insert(stack, CLAIMS * 2 * options.rounds)
        await_phones(stack, CLAIMS * 2 * options.rounds)
        fill(stack, options, 0, FEW, reader)
        few = _costs(stack, options, scratch, FEW, token, 0)
        fill(stack, options, FEW, many, reader)
        much = _costs(stack, options, scratch, many, token, options.rounds)
    options.say(f"rows: {(time.monotonic() - began) / 60:.0f} minutes")
    figures, bars = [], []
    for name, before, after in zip(PARTS, few, much):
        ratio = after / before
        figures.append(Figure(f"{name}, {many:,} rows a table", "", f"{after / 1e3:.0f} µs", f"with {FEW:,} rows {before / 1e3:.0f} µs"))
        bars.append(Bar(f"{name}: processor time with {many:,} rows a table over {FEW:,}", f"{ratio:.2f} ×", f"at most {RATIO_MAX} ×",
                        ratio <= RATIO_MAX))
    return figures, bars, [
        "Rows: processor time of profile, invites and PostgreSQL together; PostgreSQL has its stock settings, with 128 MB of shared buffers, so that "
        "most of ten million rows come from the page cache; autovacuum waits."]
