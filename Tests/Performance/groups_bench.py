"""Additions of 500 people in one request through the gateway, one request at a time; and a page of 100 members of a group of 10,000, by
ListMembers, beside pgbench running its one query.

Half of the added people are users, who become members of an open group immediately; the others stay pending.
"""

import json
import os
import re
import statistics
import time
import urllib.request

from h2load import Target
from messages import texts, varint
from processes import BenchError, run
from report import Bar, Figure
from service_stack import claims_of, service_stack
from session_bench import CHECK_SESSION

PEOPLE = 500
ADDITIONS = 40
ADDITION_MS_MAX = 60
FIRST_PHONE = 639_175_000_000
MEMBERS = 10_000
PAGE = 100
RATIO_MAX = 3
LIST_MEMBERS = "vestibule.app.v1.GroupService/ListMembers"
CALLER_PROOF = "vestibule-caller-proof"
SQL_SECONDS_MAX = 300
ANSWER_SECONDS_MAX = 30
ALONE_CALLS = 2_000
LIMITS = {
    **{f"VESTIBULE_GATEWAY_{kind}_{part}": "1000000" for kind in ("AUTH", "ADDRESS", "ACCOUNT", "CHANGES")
       for part in ("PER_SECOND", "BURST")},
    **{f"VESTIBULE_INVITES_{name}": "100000" for name in (
        "USER_ADDS", "ADDRESS_ADDS", "USER_NUMBERS", "USER_PENDING")},
    **{f"VESTIBULE_INVITES_{name}": "10000" for name in ("USER_GROUPS", "USER_GROUPS_MAX", "USER_MEMBERSHIPS")},
    "VESTIBULE_INVITES_GROUP_MEMBERS": "1000",
}
# MemberStore.list, as it is sent for a first page.
QUERY = """SELECT m.member_id, m.group_id, m.user_id, m.phone, m.display_name, m.added_at, m.role, m.unconfirmed_at IS NOT NULL, caller.owner_user_id, caller.openness FROM (SELECT g.group_id, g.owner_user_id, g.openness FROM members c JOIN groups g ON g.group_id = c.group_id WHERE c.user_id = 'OWNER' AND c.group_id = 'GROUP') AS caller LEFT JOIN LATERAL (SELECT * FROM members WHERE group_id = caller.group_id AND member_id > '00000000-0000-0000-0000-000000000000' AND (user_id IS NOT NULL OR expires_at IS NULL OR expires_at > now()) ORDER BY member_id LIMIT 101) AS m ON true ORDER BY m.member_id;
"""


def ask(stack, method, path, token, body=None):
    """A request to the gateway, as JSON."""
    request = urllib.request.Request(
        f"http://{stack.addresses['gateway']}{path}", None if body is None else json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS_MAX) as answer:
            return json.load(answer)
    except (OSError, ValueError) as error:
        raise BenchError(f"{method} {path}: {error}") from error


def register(stack, first, count):
    """Has every second of these numbers be a user's."""
    stack.sql(f"""
        INSERT INTO invites.phones (phone, user_id) SELECT ({first} + 2 * n)::text, md5('registered ' || n)::uuid
        FROM generate_series(0, {count // 2 - 1}) AS n""", timeout_seconds=SQL_SECONDS_MAX)
    stack.sql("VACUUM (ANALYZE) invites.phones", timeout_seconds=SQL_SECONDS_MAX)


def add_people(stack, token, group, first, step=1):
    """Adds 500 whom the group has not; gives the milliseconds until the answer."""
    people = [{"phone_number": f"+{first + n * step}", "display_name": "Some One"} for n in range(PEOPLE)]
    began = time.monotonic()
    results = ask(stack, "POST", f"/groups/{group}/members/batch", token, {"members": people})["results"]
    took = (time.monotonic() - began) * 1000
    if len(results) != PEOPLE or any("member" not in result for result in results):
        raise BenchError(f"{sum('member' in result for result in results)} of {PEOPLE} people were added")
    return took


def _additions(stack, options):
    token = stack.access_token()
    register(stack, FIRST_PHONE, PEOPLE * ADDITIONS)
    times = []
    for turn in range(ADDITIONS):
        group = ask(stack, "POST", "/groups", token, {"name": "Group"})["id"]
        times.append(add_people(stack, token, group, FIRST_PHONE + PEOPLE * turn))
    seated = int(stack.sql("SELECT count(*) FROM invites.members WHERE phone IS NOT NULL AND user_id IS NOT NULL"))
    if seated != PEOPLE * ADDITIONS // 2:
        raise BenchError(f"{seated} users were seated instead of {PEOPLE * ADDITIONS // 2}")
    median = statistics.median(times)
    options.say(f"AddMembers of {PEOPLE}: median {median:.1f} ms, longest {max(times):.0f} ms")
    return [Figure(f"{PEOPLE} people added in one request, through the gateway", f"{median:.1f} ms", "",
                   f"median of {ADDITIONS}, the longest {max(times):.0f} ms; {median * 1000 / PEOPLE:.0f} µs a person")], \
        [Bar(f"additions of {PEOPLE} people, median", f"{median:.1f} ms", f"under {ADDITION_MS_MAX} ms", median < ADDITION_MS_MAX)]


def fields(message):
    """The fields of a protobuf message that are numbers, texts or messages: by number, the last of each."""
    found, place = {}, 0

    def number():
        nonlocal place
        value = shift = 0
        while True:
            byte = message[place]
            place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while place < len(message):
        key = number()
        value = number()
        if key & 7 == 2:
            value, place = message[place:place + value], place + value
        found[key >> 3] = value
    return found


def caller_proof(stack, token, scratch):
    """Identity's proof to invites of who has this token, as a gateway is given it; good for half a minute at the least."""
    target = Target(stack.process_of("identity"), stack.ports["identity"], CHECK_SESSION, texts((1, token)), 0, scratch)
    status, answer = target.call()
    if status != 0:
        raise BenchError(f"identity answered a check of a session with status {status}")
    return fields(fields(answer)[5])[3].decode()


def big_group(stack, owner):
    """Makes a group of so many members, of whom every second is a user: rows by SQL."""
    group = "md5('big group')::uuid"
    stack.sql(f"""
        SET search_path = invites;
        INSERT INTO groups (group_id, name, owner_user_id, created_by, created_at)
            VALUES ({group}, 'Group', '{owner}', '{owner}', now());
        SET session_replication_role = replica;
        INSERT INTO members (group_id, member_id, user_id, added_by, added_at, linked_at)
            VALUES ({group}, lpad('1', 32, '0')::uuid, '{owner}', '{owner}', now(), now());
        INSERT INTO members (group_id, member_id, user_id, phone, display_name, added_by, added_at, linked_at)
            SELECT {group}, lpad(to_hex(n), 32, '0')::uuid, CASE WHEN n % 2 = 0 THEN md5('member ' || n)::uuid END,
                (639160000000 + n)::text, 'Some One', '{owner}', now(), CASE WHEN n % 2 = 0 THEN now() END
            FROM generate_series(2, {MEMBERS}) AS n;""", timeout_seconds=SQL_SECONDS_MAX)
    stack.sql("VACUUM (ANALYZE) invites.members", timeout_seconds=SQL_SECONDS_MAX)
    return stack.sql(f"SELECT {group}")


def list_target(stack, token, group, scratch):
    """ListMembers of a first page, answered with all of it."""
    request = texts((1, group)) + varint(2 << 3) + varint(PAGE)
    target = Target(stack.process_of("invites"), stack.ports["invites"], LIST_MEMBERS, request, 0, scratch)
    target.more_headers = [f"{CALLER_PROOF}: {caller_proof(stack, token, scratch)}"]
    status, answer = target.call()
    if status != 0 or len(answer) < PAGE * 60:
        raise BenchError(f"invites answered a page of members with status {status} and {len(answer)} bytes")
    target.answer_bytes = len(answer)
    return target


def _pgbench(stack, options, script, clients, **more):
    text = run(
        ["pgbench", *stack.database_words()[:-1], "--no-vacuum", "--protocol=prepared", f"--client={clients}", "--jobs=1",
         f"--time={options.seconds}", f"--file={script}", "vestibule"], env={**os.environ, "PGOPTIONS": "-c search_path=invites"}, **more)
    rate = re.search(r"tps = ([\d.]+) \(without", text)
    if not rate:
        raise BenchError(f"pgbench: {text[-300:]}")
    return float(rate[1])


def _pages(stack, options, scratch):
    token = stack.access_token()
    owner = claims_of(token)["sub"]
    group = big_group(stack, owner)
    script = os.path.join(scratch, "members.sql")
    with open(script, "w", encoding="ascii") as file:
        file.write(QUERY.replace("OWNER", owner).replace("GROUP", group))
    ours, theirs, alone, their_alone = [], [], [], []
    for turn in range(options.rounds):
        target = list_target(stack, token, group, scratch)
        ours.append(target.load(target.calls_for(options.seconds)).calls_per_second)
        target = list_target(stack, token, group, scratch)
        target.connections = target.in_flight = 1
        alone.append(target.median_latency_us(ALONE_CALLS))
        theirs.append(_pgbench(stack, options, script, 8))
        their_alone.append(1e6 / _pgbench(stack, options, script, 1))
        options.say(
            f"ListMembers {turn + 1}/{options.rounds} {ours[-1]:8,.0f} pages/s, alone {alone[-1]:6.0f} µs   "
            f"pgbench {theirs[-1]:8,.0f} queries/s, alone {their_alone[-1]:6.0f} µs")
    route = Target(stack.process_of("gateway"), stack.ports["gateway"], f"groups/{group}/members?page_size={PAGE}", None, 0, scratch)
    route.more_headers = [f"authorization: Bearer {token}"]
    route.speak(is_http1=True)
    route.answer_bytes = len(route.answer())
    through = route.median_latency_us(ALONE_CALLS)
    (rate, peer), (one, peer_one) = [[statistics.median(some) for some in pair] for pair in ((ours, theirs), (alone, their_alone))]
    return [
        Figure(f"ListMembers, {PAGE} of {MEMBERS:,} members", f"{rate:,.0f} pages/s", "", f"alone {one:.0f} µs; through the gateway's route {through:.0f} µs"),
        Figure("pgbench, its query, -c 8, -M prepared", f"{peer:,.0f} /s", "", f"alone {peer_one:.0f} µs"),
    ], [
        Bar(f"pgbench's queries a second over pages of {PAGE} members a second", f"{peer / rate:.2f} ×", f"under {RATIO_MAX} ×",
            peer / rate < RATIO_MAX),
        Bar(f"a page of {PAGE} members, alone, over the query alone", f"{one / peer_one:.2f} ×", f"under {RATIO_MAX} ×",
            one / peer_one < RATIO_MAX)]


def measure(options, scratch):
    """Gives the figures, the bars, and notes."""
    with service_stack(options, os.path.join(scratch, "groups"), **LIMITS) as stack:
        figures, bars = _additions(stack, options)
        more_figures, more_bars = _pages(stack, options, scratch)
    return figures + more_figures, bars + more_bars, [
        f"Groups: {PEOPLE} people a request, half of them users, into a group of their own; pages by gRPC at invites, with all programs, PostgreSQL "
        "and pgbench on all cores in turn."]
