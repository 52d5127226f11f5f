"""Bytes on disk of an account and of a sign-in: what tables with their indexes grow by, from pg_total_relation_size, for thousands of
them."""

import os

from call_costs import drain_events
from import_bench import run_import, write_files
from processes import BenchError
from report import Figure

# For each second that a run should last.
IMPORTS_PER_SECOND, ACCOUNTS_PER_SECOND = 2_000, 250
WORKERS = 32
# Their rows are of calls under way and of the last days: they don't grow with the accounts.
QUEUES = ("profile.work", "identity.work", "invites.work", "invites.inbox", "invites.user_locks")
SIZES = """SELECT schemaname || '.' || relname || ' ' || pg_total_relation_size(relid)
    FROM pg_stat_user_tables WHERE schemaname IN ('identity', 'profile', 'invites')"""
# What each sign-in adds to; accounts are made beforehand for some of them.
SIGN_IN_TABLES = ("identity.sessions", "identity.security_events", "identity.sign_ins")
# Tables with less than this for one are not named.
SHOWN_BYTES_MIN = 10


def _sizes(stack):
    return {name: int(size) for name, size in (line.split() for line in stack.sql(SIZES).splitlines())}


def _rows(stack, table):
    return int(stack.sql(f"SELECT count(*) FROM identity.{table}"))


def _grown(before, after, count):
    """Bytes for each of so many, by table, without queues."""
    return {name: (size - before.get(name, 0)) / count for name, size in after.items() if name not in QUEUES}


def _figure(what, grown, count):
    parts = ", ".join(
        f"{name} {size:,.0f}" for name, size in sorted(grown.items(), key=lambda pair: -pair[1]) if size >= SHOWN_BYTES_MIN)
    return Figure(what, f"{sum(grown.values()):,.0f} bytes", "", f"of {count:,}: {parts}")


def measure(options, scratch, stack):
    """Gives the figures of an imported account, and of the first sign-in of a new one."""
    count = IMPORTS_PER_SECOND * options.seconds
    folder = os.path.join(scratch, "disk-files")
    os.mkdir(folder)
    # Imports see a number that somebody has as taken: these are others than those of the calls before.
    files = write_files(folder, count)
    accounts, before = _rows(stack, "accounts"), _sizes(stack)
    run_import(stack, folder, "supabase", *files)
    drain_events(stack)
    if _rows(stack, "accounts") - accounts != count:
        raise BenchError(f"of {count} accounts {_rows(stack, 'accounts') - accounts} were imported")
    imported = _grown(before, _sizes(stack), count)
    sessions, before = _rows(stack, "sessions"), _sizes(stack)
    stack.load("sign-in", duration=f"{options.seconds}s", warm_up="0s", workers=WORKERS, accounts=ACCOUNTS_PER_SECOND * options.seconds)
    begun = _rows(stack, "sessions") - sessions
    signed_in = {name: size for name, size in _grown(before, _sizes(stack), begun).items() if name in SIGN_IN_TABLES}
    return [
        _figure("disk of an account: number, name and an identity at Google", imported, count),
        _figure("disk of a sign-in: its session, and its row of the audit log", signed_in, begun)]
