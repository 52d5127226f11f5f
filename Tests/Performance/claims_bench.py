"""Saves of a profile with a phone number that a group awaits, while profile tells invites of each and invites seats each person;
against pgbench running the statements of the save alone, on the same PostgreSQL server.

Ours, its load and PostgreSQL have all cores, as pgbench has when its turn comes. Each account saves once, as people do: a session's row and token are
made without a sign-in.
"""

import os
import re
import statistics
import time

import known_sessions
from processes import BenchError, run
from report import Bar, Figure
from service_stack import service_stack

RATIO_MIN = 0.9
# What a run that is faster than this many a second would have too few accounts for.
CLAIMS_PER_SECOND_MAX = 4_000
WORKERS = 32
# Of each of profile's two event loops, so that it has as many as pgbench has clients.
LOOPS, CONNECTIONS = "2", str(WORKERS // 2)
GROUP_MEMBERS = 100
# Numbers go through the network as those of `vestibule load` (PhoneSequence), the odd ones from here on.
FIRST_PHONE = 639_170_000_001
PHONES, STRIDE = 10_000_000, 6_180_338
# Far from ours, so that each takes numbers and makes profiles that the other doesn't.
PEER_FIRST_PHONE = 639_180_000_000
DRAIN_SECONDS_MAX = 60
# Delivery keeps up: when the last save has returned, fewer events are undelivered than the saves of this many seconds.
BEHIND_SECONDS_MAX = 1
SQL_SECONDS_MAX = 600
# What ProfileStore.update sends for somebody without a profile, in its order: one transaction.
SAVE = r"""
\set n random(1, 2000000000)
BEGIN;
SELECT user_id, display_name, username, phone, updated_at, proven_phone, phone_taken_at, avatar, revision, phone_tries, phone_tries_since, phone_claims, phone_claims_since, phone_chosen_at FROM profiles WHERE user_id = md5(:n::text)::uuid FOR UPDATE;
INSERT INTO profiles (user_id) VALUES (md5(:n::text)::uuid) ON CONFLICT (user_id) DO UPDATE SET user_id = excluded.user_id RETURNING user_id, display_name, username, phone, updated_at, proven_phone, phone_taken_at, avatar, revision, phone_tries, phone_tries_since, phone_claims, phone_claims_since, phone_chosen_at;
SELECT FROM closed_accounts WHERE user_id = md5(:n::text)::uuid;
INSERT INTO phones (phone, user_id, claimed_at) SELECT (FIRST + :n)::text, md5(:n::text)::uuid, now() WHERE NOT EXISTS (SELECT FROM phone_cool_downs WHERE phone = (FIRST + :n)::text AND user_id <> md5(:n::text)::uuid AND until > now()) ON CONFLICT (phone) DO NOTHING;
WITH freed_phone AS (DELETE FROM phones WHERE phone = NULL::text AND user_id = md5(:n::text)::uuid), freed_username AS (DELETE FROM usernames WHERE username_key = NULL::text AND user_id = md5(:n::text)::uuid), events AS (INSERT INTO work (queue, event_id, key, user_id, created_at, trace, data) SELECT 'phone_events', event_id, phone, md5(:n::text)::uuid, now(), NULL, jsonb_build_object('kind', kind) FROM unnest(ARRAY[gen_random_uuid()], ARRAY['claimed'], ARRAY[(FIRST + :n)::text]) WITH ORDINALITY AS event (event_id, kind, phone, position) ORDER BY position), told AS (INSERT INTO work (queue, event_id, user_id, created_at, trace, data) SELECT 'events', event_id, md5(:n::text)::uuid, now(), NULL, jsonb_build_object('type', type) FROM unnest(ARRAY[gen_random_uuid(), gen_random_uuid()], ARRAY['phone.changed', 'profile.completed']) AS event (event_id, type) JOIN wanted_events USING (type)) UPDATE profiles SET display_name = 'Load Generator', username = NULL, phone = (FIRST + :n)::text, proven_phone = NULL, phone_taken_at = NULL, avatar = NULL, revision = 1, updated_at = now(), phone_chosen_at = COALESCE(now(), phone_chosen_at), phone_claims = 1, phone_claims_since = now() WHERE user_id = md5(:n::text)::uuid;
COMMIT;
"""


def phone(index):
    """A number of the sequence, E.164 without the plus."""
    base = FIRST_PHONE // PHONES * PHONES
    return base + (FIRST_PHONE - base + index * STRIDE) % PHONES


def await_phones(stack, count, first=0):
    """Has groups await numbers of the sequence, a hundred each: rows by SQL, as additions leave them."""
    numbers = f"(SELECT n, {phone(0) - 1} + (1 + n * {STRIDE}::bigint) % {PHONES} AS phone FROM generate_series({first}, {first + count - 1}) AS n) AS s"
    group = f"md5('awaiting ' || n / {GROUP_MEMBERS})::uuid"
    owner = "md5('awaiting owner')::uuid"
    stack.sql(f"""
        SET search_path = invites;
        INSERT INTO groups (group_id, name, owner_user_id, created_by, created_at)
            SELECT DISTINCT {group}, 'Group', {owner}, {owner}, now() FROM {numbers};
        INSERT INTO phones (phone) SELECT phone::text FROM {numbers};
        SET session_replication_role = replica;
        INSERT INTO members (group_id, member_id, phone, display_name, added_by, added_at)
            SELECT {group}, lpad(to_hex(n), 32, '0')::uuid, phone::text, 'Somebody', {owner}, now() FROM {numbers};""",
        timeout_seconds=SQL_SECONDS_MAX)
    for table in ("groups", "phones", "members"):
        stack.sql(f"VACUUM (ANALYZE) invites.{table}", timeout_seconds=SQL_SECONDS_MAX)


def waiting(stack):
    """How many saves invites was not told of yet."""
    return int(stack.sql("SELECT count(*) FROM profile.work WHERE queue = 'phone_events'"))


def drained_seconds(stack):
    """Waits until all events are delivered to invites."""
    began = time.monotonic()
    while waiting(stack):
        if time.monotonic() - began > DRAIN_SECONDS_MAX:
            raise BenchError(f"{waiting(stack)} numbers are still undelivered after {DRAIN_SECONDS_MAX} s")
        time.sleep(0.02)
    return time.monotonic() - began


def _pgbench(stack, options, script):
    text = run(
        ["pgbench", *stack.database_words()[:-1], "--no-vacuum", "--protocol=prepared", f"--client={WORKERS}", "--jobs=2",
         f"--time={options.seconds}", f"--file={script}", "vestibule"],
        env={**os.environ, "PGOPTIONS": "-c search_path=profile"})
    rate = re.search(r"tps = ([\d.]+) \(without", text)
    if not rate:
        raise BenchError(f"pgbench: {text[-300:]}")
    # Its rows are not our work, and must not be delivered.
    stack.sql(f"DELETE FROM profile.work WHERE key::bigint >= {PEER_FIRST_PHONE}", timeout_seconds=SQL_SECONDS_MAX)
    return float(rate[1])


def measure(options, scratch):
    """Runs ours and pgbench in turn. Gives the figures, the bars, and notes."""
    share = CLAIMS_PER_SECOND_MAX * (options.seconds + 1)
    script = os.path.join(scratch, "save.sql")
    with open(script, "w", encoding="ascii") as file:
        file.write(SAVE.replace("FIRST", str(PEER_FIRST_PHONE)))
    rates, latencies, theirs, behind, drains = [], [], [], [], []
    with service_stack(
            options, os.path.join(scratch, "claims"), VESTIBULE_EVENT_LOOPS=LOOPS,
            VESTIBULE_PROFILE_DATABASE_CONNECTIONS=CONNECTIONS) as stack:
        known_sessions.insert(stack, share * options.rounds)
        await_phones(stack, share * options.rounds)
        stack.sql("CHECKPOINT", timeout_seconds=SQL_SECONDS_MAX)
        saved = 0
        for turn in range(options.rounds):
            sessions = known_sessions.tokens(stack, os.path.join(scratch, "claim-tokens"), share, first=1 + share * turn)
            report = stack.load(
                "claim-phone", duration=f"{options.seconds}s", warm_up="1s", workers=WORKERS, sessions=sessions,
                first_phone=phone(share * turn))
            behind.append(waiting(stack))
            drains.append(drained_seconds(stack))
            total = report["total"]
            rates.append(total["succeeded_per_second"])
            latencies.append(total["latency_ns"]["p50"] / 1e6)
            saved = _check_seated(stack, saved, total["succeeded"])
            theirs.append(_pgbench(stack, options, script))
            options.say(
                f"claim-phone {turn + 1}/{options.rounds} ours {rates[-1]:9,.0f} saves/s, {behind[-1]:,} undelivered at the end, "
                f"delivered {drains[-1]:.2f} s later   pgbench {theirs[-1]:9,.0f}/s")
    rate, peer = statistics.median(rates), statistics.median(theirs)
    ratio, late = rate / peer, statistics.median(behind) / rate
    return [
        Figure("UpdateProfile with a number that a group awaits", f"{rate:,.0f} /s", "",
               f"p50 {statistics.median(latencies):.1f} ms, {WORKERS} in flight, each person seated; {ratio:.2f} × pgbench"),
        Figure(f"pgbench, the statements of the save alone, -c {WORKERS} -j 2 -M prepared", f"{peer:,.0f} /s", "", ""),
        Figure("undelivered to invites after the last save", f"{statistics.median(behind):,.0f}", "",
               f"{late * 1000:.0f} ms of saves; the last was delivered {statistics.median(drains) * 1000:.0f} ms later"),
    ], [
        Bar("saves of a number over pgbench's", f"{ratio:.2f} ×", f"at least {RATIO_MIN} ×", ratio >= RATIO_MIN),
        Bar("undelivered saves at the end of a run, in time", f"{late:.2f} s", f"under {BEHIND_SECONDS_MAX} s",
            late < BEHIND_SECONDS_MAX),
    ], [
        "Claims: UpdateProfile with a name and a number that nobody has and a group awaits, each by an account of its own, without a profile until "
        "then; profile's relay and invites' linking run on the same cores, pgbench runs the statements of the save and nothing else. Profile has 32 connections to PostgreSQL as pgbench has, where by default it would "
        "have 8."]


def _check_seated(stack, saved_before, count):
    """That all are seated of whom it was said that their number is saved; gives how many they are now."""
    seated = int(stack.sql("SELECT count(*) FROM invites.members WHERE added_by = md5('awaiting owner')::uuid AND user_id IS NOT NULL"))
    if seated - saved_before < count:
        raise BenchError(f"{count} numbers were saved, and {seated - saved_before} people seated")
    return seated
