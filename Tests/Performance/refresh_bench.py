"""Refreshes of sessions that get no ID token, whole calls with tokens made anew, each with one check of the new access token
behind it, which writes down that it was received; against pgbench running two plain UPDATEs of a row by its key on the same
durable PostgreSQL server, each committed. Ours, its load, PostgreSQL and pgbench have all cores in turn."""

import os
import re
import statistics

import known_sessions
from processes import BenchError, run
from report import Bar, Figure

RATIO_MIN = 1
CLIENTS = 32
SESSIONS = 20_000
# Behind ours, so that each changes rows that the other does not.
PEER_FIRST = SESSIONS + 1
# What a refresh writes, and what the first use of its access token writes; nothing is judged or read.
UPDATES = (
    """UPDATE sessions SET previous = base, base = generation, first_child = generation + 1, acknowledged_at = now(),
    generation = generation + 1, rotated_at = now(), last_used_at = now()
    WHERE session_id = lpad(:number::text, 32, '0')::uuid;""",
    """UPDATE sessions SET previous = base, base = generation, first_child = generation + 1, acknowledged_at = now()
    WHERE session_id = lpad(:number::text, 32, '0')::uuid;""",
)


def _pgbench(stack, options, script):
    # The schema is chosen as it is for identity, by the connection.
    text = run(
        ["pgbench", *stack.database_words()[:-1], "--no-vacuum", "--protocol=prepared", f"--client={CLIENTS}", "--jobs=2",
         f"--time={options.seconds}", f"--file={script}", "vestibule"],
        env={**os.environ, "PGOPTIONS": "-c search_path=identity"})
    rate = re.search(r"tps = ([\d.]+) \(without", text)
    failed = re.search(r"number of failed transactions: (\d+)", text)
    if not rate or (failed and failed[1] != "0"):
        raise BenchError(f"pgbench: {text[-300:]}")
    return float(rate[1])


def _script(scratch, updates):
    path = os.path.join(scratch, f"updates-{len(updates)}.sql")
    lines = [f"\\set number random({PEER_FIRST}, {PEER_FIRST + SESSIONS - 1})", *(" ".join(one.split()) for one in updates)]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path


def measure(options, scratch, stack):
    """Runs ours and pgbench in turn. Gives the figures and the bars."""
    known_sessions.insert(stack, 2 * SESSIONS)
    scripts = {1: _script(scratch, UPDATES[:1]), 2: _script(scratch, UPDATES)}
    rates, latencies, theirs = {1: [], 2: []}, {1: [], 2: []}, {1: [], 2: []}
    for turn in range(options.rounds):
        for count, scenario in ((1, "refresh"), (2, "refresh-and-check")):
            # Sessions of their own each time: a token that was replaced is worth nothing.
            share = SESSIONS // (2 * options.rounds)
            first = 1 + share * (2 * turn + count - 1)
            sessions = known_sessions.tokens(stack, os.path.join(scratch, "refresh-tokens"), share, first=first)
            total = stack.load(
                scenario, duration=f"{options.seconds}s", warm_up="1s", workers=CLIENTS, sessions=sessions)["total"]
            rates[count].append(total["succeeded_per_second"])
            latencies[count].append(total["latency_ns"]["p50"] / 1e6)
            theirs[count].append(_pgbench(stack, options, scripts[count]))
            options.say(
                f"{scenario} {turn + 1}/{options.rounds} ours {rates[count][-1]:9,.0f} calls/s   "
                f"pgbench, {count} UPDATE {theirs[count][-1]:9,.0f}/s")
    _check_written(stack, options)
    return _judge(rates, latencies, theirs)


def _check_written(stack, options):
    """That each of them wrote what it is compared for."""
    condition = f"client_id = '{known_sessions.PLAIN_CLIENT}' AND generation > 0 AND session_id"
    border = f"lpad('{PEER_FIRST}', 32, '0')::uuid"
    if int(stack.sql(f"SELECT count(*) FROM identity.sessions WHERE {condition} >= {border}")) == 0:
        raise BenchError("pgbench's statements changed no session")
    refreshed, acknowledged = stack.sql(f"""
        SELECT count(*), count(*) FILTER (WHERE base = generation) FROM identity.sessions WHERE {condition} < {border}"""
    ).split("|")
    # Of those that were only refreshed the newest tokens were never used.
    share = int(acknowledged) / max(1, int(refreshed))
    options.say(f"{int(refreshed):,} sessions were refreshed; of {share:.0%} the newest token is known to have been received")
    if share < 0.4:
        raise BenchError("checks of new access tokens were not written down")


def _judge(rates, latencies, theirs):
    figures = []
    medians = {count: statistics.median(rates[count]) for count in rates}
    peers = {count: statistics.median(theirs[count]) for count in theirs}
    for count, name in ((1, "refresh"), (2, "refresh, and a CheckSession after it")):
        ratio = medians[count] / peers[count]
        figures += [
            Figure(name, f"{medians[count]:,.0f} /s", "",
                   f"p50 {statistics.median(latencies[count]):.1f} ms, {CLIENTS} in flight; {ratio:.2f} × pgbench"),
            Figure(f"pgbench, {'one UPDATE' if count == 1 else 'two UPDATEs'}, -c {CLIENTS} -j 2 -M prepared",
                   f"{peers[count]:,.0f} /s", "", ""),
        ]
    ratio = medians[2] / peers[2]
    return figures, [
        Bar("refreshes with a CheckSession each over pgbench's two UPDATEs", f"{ratio:.2f} ×", f"at least {RATIO_MIN} ×",
            ratio >= RATIO_MIN)]
