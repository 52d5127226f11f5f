"""Refreshes of sessions, whole calls with both tokens made anew, against pgbench running the same UPDATE on the same durable
PostgreSQL server. Ours, its load, PostgreSQL and pgbench have all cores in turn."""

import os
import re
import statistics

from processes import BenchError, run
from report import Bar, Figure

RATIO_MIN = 0.8
CLIENTS = 32
SESSIONS = 20_000
# A refresh as identity sends it, of a session by its number, and taking the generation that is there for the one presented.
SCRIPT = f"""
\\set number random(1, {SESSIONS})
WITH session AS MATERIALIZED (
    SELECT session_id, user_id, provider, client_id, created_at,
        CASE
            WHEN nonce <> '\\x00112233445566778899aabbccddeeff'::bytea THEN 'mismatched'
            WHEN revoked_at IS NOT NULL THEN 'revoked'
            WHEN expires_at <= now() OR last_used_at <= now() - interval '30 days' THEN 'expired'
            WHEN generation = generation THEN 'rotated'
            WHEN generation = generation + 1 AND rotated_at > now() - interval '1 minute' THEN 'repeated'
            WHEN generation > generation + 1 AND rotated_at > now() THEN 'late'
            WHEN generation > generation + 1 THEN 'reused'
            ELSE 'mismatched'
        END AS verdict
    FROM sessions WHERE session_id = lpad(:number::text, 32, '0')::uuid
    FOR UPDATE
), rotated AS (
    UPDATE sessions SET generation = generation + 1, rotated_at = now(), last_used_at = now()
    FROM session WHERE sessions.session_id = session.session_id AND session.verdict = 'rotated'
), ended AS (
    UPDATE sessions SET revoked_at = now(), revoke_reason = 'reuse', expires_at = now()
    FROM session WHERE sessions.session_id = session.session_id AND session.verdict = 'reused'
)
SELECT verdict, user_id, provider, client_id, created_at,
    (SELECT told_name FROM provider_identities identity
        WHERE identity.user_id = session.user_id AND told_name IS NOT NULL
        ORDER BY identity.created_at LIMIT 1)
FROM session
"""
ROWS = f"""
SET search_path = identity;
INSERT INTO accounts SELECT lpad(n::text, 32, '0')::uuid, now() FROM generate_series(1, {SESSIONS}) AS n;
INSERT INTO sessions (session_id, user_id, provider, client_id, opened_account, nonce, created_at, last_used_at, expires_at)
    SELECT lpad(n::text, 32, '0')::uuid, lpad(n::text, 32, '0')::uuid, 'google', 'bench', true,
        '\\x00112233445566778899aabbccddeeff', now(), now(), now() + interval '1 day' FROM generate_series(1, {SESSIONS}) AS n;
ANALYZE;
CHECKPOINT
"""


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


def measure(options, scratch, stack):
    """Runs ours and pgbench in turn. Gives the figures and the bars."""
    stack.sql(ROWS)
    script = os.path.join(scratch, "refresh.sql")
    with open(script, "w", encoding="utf-8") as file:
        file.write(SCRIPT)
    rates, latencies, theirs = [], [], []
    for turn in range(options.rounds):
        total = stack.load(
            "refresh", duration=f"{options.seconds}s", warm_up="1s", workers=CLIENTS, accounts=CLIENTS * 8)["total"]
        rates.append(total["succeeded_per_second"])
        latencies.append(total["latency_ns"]["p50"] / 1e6)
        theirs.append(_pgbench(stack, options, script))
        options.say(
            f"refresh {turn + 1}/{options.rounds} ours {rates[-1]:9,.0f} calls/s   pgbench {theirs[-1]:9,.0f}/s")
    rotated = stack.sql(f"SELECT count(*) FROM identity.sessions WHERE client_id = 'bench' AND generation > 0")
    if int(rotated) == 0:
        raise BenchError("pgbench's statement changed no session")
    rate, their_rate = statistics.median(rates), statistics.median(theirs)
    figures = [
        Figure("refresh", f"{rate:,.0f} calls/s", "", f"p50 {statistics.median(latencies):.1f} ms, {CLIENTS} in flight"),
        Figure(f"pgbench, the same UPDATE, -c {CLIENTS} -j 2 -M prepared", f"{their_rate:,.0f} transactions/s", "", ""),
    ]
    ratio = rate / their_rate
    return figures, [
        Bar("refreshes over pgbench's same UPDATE", f"{ratio:.2f} ×", f"at least {RATIO_MIN} ×", ratio >= RATIO_MIN)]
