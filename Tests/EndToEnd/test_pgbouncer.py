"""Everything by way of PgBouncer, in session and in transaction mode: phones do all that phones do, and all that was acknowledged is there."""

import pathlib
import signal
import sys

import pytest

import pgbouncer
from app import App
from parts import Stopwatch
from watching import Watching

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Chaos"))

import chaos
from checks import Checks

SERVICES = pgbouncer.SERVICES
LOAD_SECONDS = 5
QUIET_SECONDS = 30


@pytest.fixture
def target():
    with chaos.target_of_webhooks() as target:
        yield target


@pytest.fixture
def parts(target):
    with chaos.running_parts(target, None) as parts:
        parts.stack.sql("SELECT 1")  # It keeps the way to PostgreSQL itself.
        yield parts


def use(parts, **variables):
    """Has the services run with other settings."""
    for name in SERVICES:
        parts.end(name, signal.SIGTERM)
    parts.configure(*SERVICES, **variables)
    parts.expect_back()


def listening(parts):
    """What sessions of PostgreSQL listen to."""
    return set(parts.stack.sql("SELECT query FROM pg_stat_activity WHERE query LIKE 'LISTEN %'").splitlines())


def migrate(parts):
    for name in SERVICES:
        result = parts.run(name, "migrate")
        assert result.returncode == 0 and "migrated" in result.stderr, result


def work(parts, target):
    """What phones do, and what must hold of it."""
    run, phones, supervisor = chaos.load(parts, seed=1, seconds=LOAD_SECONDS, faults=[])
    checks = Checks(run, phones, supervisor, lambda: chaos.told(target), QUIET_SECONDS)
    checks.all(sweeps=False)
    assert [*run.findings, *supervisor.findings, *checks.findings] == []
    assert run.acknowledged["sign in"] >= chaos.PHONES and run.acknowledged["refresh"] and run.acknowledged["create group"]
    assert not run.failures, run.failures


def test_session_mode(parts, target):
    with pgbouncer.running(parts, "session") as settings:
        use(parts, **settings)
        migrate(parts)
        work(parts, target)
        assert "LISTEN vestibule_identity_revocations" in listening(parts)
        refuse_unnamed(parts)


def test_transaction_mode(parts, target):
    direct = pgbouncer.direct(parts)
    with pgbouncer.running(parts, "transaction", sessions=4) as settings:
        use(parts, **settings, **direct)
        migrate(parts)
        work(parts, target)
        # The services have twelve connections each, and share four sessions; one listens besides.
        sessions = parts.stack.sql("SELECT usename FROM pg_stat_activity WHERE application_name LIKE 'vestibule-%'").splitlines()
        assert len(sessions) <= len(SERVICES) * 5, sessions
        assert "LISTEN vestibule_identity_revocations" in listening(parts)
        use(parts, VESTIBULE_DATABASE_DIRECT_HOST="")
        refuse_unnamed(parts)
        refuse_migration(parts)
        story(parts)
        assert not listening(parts)


def story(parts):
    """Of two people, while replicas can notify each other by looking alone."""
    one, other = App(parts.stack), App(parts.stack)
    for app in (one, other):
        app.sign_in()
        app.complete()
    group = one.create_group()
    with Watching(other) as watching:
        one.invite(other.person, group)
        watching.wait_for("group.joined", group)
    assert group in other.group_ids()
    assert one.refresh().status == 200
    one.post("/auth/sign-out").expect(204)
    assert one.refresh().status == 401
    other.delete()


def refuse_unnamed(parts):
    """A pooler that isn't named is refused, with words that name the setting."""
    result = parts.run("identity", "migrate", VESTIBULE_DATABASE_POOLER="none")
    assert result.returncode != 0 and "VESTIBULE_DATABASE_POOLER" in result.stderr, result


def refuse_migration(parts):
    """Migrations need a session, and say so before they try."""
    with Stopwatch() as watch:
        result = parts.run("identity", "migrate")
    assert result.returncode == 78 and "VESTIBULE_DATABASE_DIRECT_HOST" in result.stderr, result
    assert watch.seconds < 10
