"""The operator's command that ends all sessions, on a stack of its own: after a restore the database believes what was over."""

import json
import re
import subprocess

import pytest

import process_table
from app import App
from stack import new_stack, program


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
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"ended 2 live sessions: those begun before 20[-\dT:]+Z are refused.*\n", done.stdout)
    assert "all sessions ended" in done.stderr
    for line in done.stderr.splitlines():
        if line.startswith("{"):
            assert set(json.loads(line)) <= {"time", "level", "logger", "message", "sessions", "sessions_from_milliseconds"}
    for app in (restored, rotated):
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


def test_help_says_what_it_does():
    result = subprocess.run([program("identity"), "end-sessions", "--help"], capture_output=True, text=True, timeout=30)
    assert result.returncode == 0
    assert "--confirm" in result.stdout and "restored" in result.stdout and "on all replicas at once" in result.stdout
