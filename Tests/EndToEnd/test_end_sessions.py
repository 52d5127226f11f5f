"""The operator's command that ends all sessions, on a stack of its own: after a restore the database believes what was over."""

import datetime
import json
import re
import subprocess
import time
import uuid

import pytest

import process_table
from app import App
from stack import new_stack, program

# Another loop of the gateway may use its answer for as long (SessionAnswers.newsAgeMax).
NEWS_AGE_MAX_SECONDS = 0.25


@pytest.fixture
def own_stack():
    with new_stack() as stack:
        stack.start()
        yield stack
        assert stack.stop() == 0, stack.output


def end_sessions(stack, *arguments):
    return subprocess.run(
        [program("identity"), "end-sessions", *arguments], env=process_table.environment(stack.process_of("identity")),
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)


def test_a_restored_session_is_over(own_stack):
    restored, rotated = App(own_stack), App(own_stack)
    restored.sign_in()
    rotated.sign_in()
    stolen = rotated.refresh_token
    own_stack.sql("CREATE TABLE kept AS SELECT * FROM identity.sessions;")
    restored.post("/auth/sign-out").expect(204)
    rotated.refresh().expect(200)
    rotated.refresh().expect(200)
    own_stack.sql("DELETE FROM identity.sessions; INSERT INTO identity.sessions SELECT * FROM kept;")
    # This is what a restore does.
    restored.get("/me").expect(200)

    told = end_sessions(own_stack)
    assert told.returncode == 1
    assert told.stderr.splitlines()[-1] == (
        "identity: 2 live sessions would be ended, and everybody would have to sign in again. Nothing was changed; "
        "--confirm does it")
    restored.get("/me").expect(200)

    done = end_sessions(own_stack, "--confirm")
    # A user who signs in once the command has returned is let in: times in a provider's token are whole seconds.
    App(own_stack).sign_in()
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"ended 2 live sessions: those begun before 20[-\dT:]+Z are refused.*\n", done.stdout)
    assert "all sessions ended" in done.stderr
    for line in done.stderr.splitlines():
        if line.startswith("{"):
            assert set(json.loads(line)) <= {"time", "level", "logger", "message", "sessions", "sessions_from_milliseconds"}
    for app in (restored, rotated):
        # A check may go by what was read a second before.
        process_table.wait_until(lambda app=app: app.get("/me").status == 401, 2, "the end of a session")
        time.sleep(NEWS_AGE_MAX_SECONDS)
        app.get("/me").problem(401, "SESSION_REVOKED")
        app.gateway.post("/auth/refresh", {"refresh_token": app.refresh_token}).problem(401, "SESSION_REVOKED")
    rotated.gateway.post("/auth/refresh", {"refresh_token": stolen}).problem(401, "SESSION_REVOKED")

    # Providers date their tokens by whole seconds.
    def signed_in_again():
        answer = App(own_stack, restored.person)
        try:
            return answer.sign_in()["user_id"] == restored.session["user_id"]
        except AssertionError:
            return False

    process_table.wait_until(signed_in_again, 10, "a sign-in after the end")


def sessions_end(stack, *arguments):
    """The same by the program that operators know, with identity's configuration."""
    return subprocess.run(
        [program("vestibule"), "sessions", "end", *arguments],
        env=process_table.environment(stack.process_of("identity")), capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=60)


def refused(app):
    """Whether the session is over: refreshes see it at once, checks within a second, each loop of the gateway by itself."""
    app.refresh().problem(401, "SESSION_REVOKED")
    process_table.wait_until(lambda: app.get("/me").status == 401, 2, "the end of a session")
    time.sleep(NEWS_AGE_MAX_SECONDS)
    app.get("/me").problem(401, "SESSION_REVOKED")
    return True


def told(stack):
    return stack.sql(
        "SELECT kind || ' ' || coalesce(details->>'by', '-') || ' ' || (details->>'sessions') FROM identity.security_events "
        "WHERE kind LIKE '%sessions%' ORDER BY event_id;").splitlines()


def test_an_operator_ends_one_account_then_what_is_older_then_all(own_stack):
    theirs, also_theirs, old, young = (App(own_stack) for _ in range(4))
    theirs.sign_in()
    also_theirs.person = theirs.person
    also_theirs.sign_in("apple")
    old.sign_in()
    time.sleep(1.1)
    between = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    young.sign_in()

    asked = sessions_end(own_stack, "--account", theirs.user_id)
    assert asked.returncode == 1 and "2 live sessions of the account would be ended" in asked.stderr
    done = sessions_end(own_stack, "--account", theirs.user_id, "--confirm")
    assert (done.returncode, done.stdout) == (0, "ended 2 live sessions of the account\n"), done.stderr
    assert theirs.user_id not in done.stderr
    assert refused(theirs) and refused(also_theirs)
    none = sessions_end(own_stack, "--account", str(uuid.uuid4()), "--confirm")
    assert none.stdout == "ended 0 live sessions of the account\n"
    for app in (old, young):
        app.get("/me").expect(200)

    asked = sessions_end(own_stack, "--before", between)
    assert asked.returncode == 1 and f"1 live sessions from before {between} would be ended" in asked.stderr
    done = sessions_end(own_stack, "--before", between, "--confirm")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"ended 1 live sessions: those begun before {between} are refused")
    assert refused(old)
    young.get("/me").expect(200)
    young.refresh().expect(200)

    asked = sessions_end(own_stack, "--all")
    assert asked.returncode == 1 and "1 live sessions would be ended" in asked.stderr
    young.get("/me").expect(200)
    done = sessions_end(own_stack, "--all", "--confirm")
    assert done.returncode == 0 and done.stdout.startswith("ended 1 live sessions: those begun before 20"), done.stderr
    assert refused(young)
    assert told(own_stack) == [
        "sessions_ended_everywhere operator 2", "sessions_ended_everywhere operator 0", "all_sessions_ended - 1",
        "all_sessions_ended - 1"]


def test_what_is_asked_must_be_clear(own_stack):
    app = App(own_stack)
    app.sign_in()
    for arguments in (
            [], ["--all", "--account", app.user_id], ["--all", "--before", "2026-01-01T00:00:00Z"],
            ["--account", "nobody", "--confirm"], ["--before", "yesterday", "--confirm"],
            ["--before", "2026-01-01", "--confirm"]):
        assert sessions_end(own_stack, *arguments).returncode == 64, arguments  # EX_USAGE
    future = sessions_end(own_stack, "--before", "2999-01-01T00:00:00Z", "--confirm")
    assert future.returncode == 1 and "in the future" in future.stderr
    app.refresh().expect(200)


def test_help_says_what_it_does():
    for command in (["identity", "end-sessions"], ["vestibule", "sessions", "end"]):
        result = subprocess.run([program(command[0]), *command[1:], "--help"], capture_output=True, text=True, timeout=30)
        assert result.returncode == 0
        for option in ("--confirm", "--all", "--before", "--account"):
            assert option in result.stdout
        assert "restore" in result.stdout
