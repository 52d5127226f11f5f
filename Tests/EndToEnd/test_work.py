"""`vestibule work`: held work of the services, listed, retried and discarded."""

import subprocess

import pytest

import process_table
from app import App
from stack import new_stack, program

SERVICES = ("identity", "profile", "invites")


@pytest.fixture(scope="module")
def own_stack():
    with new_stack() as stack:
        stack.start()
        yield stack


def work(stack, *arguments, status=0):
    """What it prints, with the configurations of the stack's services."""
    environment = {}
    for name in SERVICES:
        environment |= process_table.environment(stack.process_of(name))
    result = subprocess.run(
        [program("vestibule"), "work", *arguments], env=environment, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=60)
    assert result.returncode == status, (result.stdout, result.stderr)
    return result.stdout.splitlines(), result.stderr


def park(stack, app):
    """As if invites had rejected that the person has a number; the name of the work."""
    row = stack.sql(
        "INSERT INTO profile.work (queue, event_id, key, user_id, created_at, data, parked_at, failure) VALUES "
        f"('phone_events', gen_random_uuid(), '{app.person.digits}', '{app.user_id}', now(), "
        "'{\"kind\": \"claimed\"}', now(), 'BAD') RETURNING id")
    return f"profile/{row.splitlines()[0]}"


def test_nothing_is_held(own_stack):
    lines, _ = work(own_stack)
    assert lines == [f"{name}: nothing is held" for name in SERVICES]
    assert work(own_stack, "retry", "--all")[0] == [f"{name}: 0 will be retried" for name in SERVICES]


def test_work_is_looked_at_and_retried(own_stack):
    app = App(own_stack)
    app.sign_in()
    name = park(own_stack, app)
    lines, _ = work(own_stack, "list")
    (line,) = [line for line in lines if "nothing is held" not in line]
    digits = app.person.digits
    assert line.startswith(f'{name}  phone_events  {{"kind": "claimed"}} of {app.user_id}  ')
    assert "parked" in line and line.endswith("BAD") and digits not in line
    shown, _ = work(own_stack, "show", name, "--numbers")
    assert f"key       {digits}" in shown and "state     parked" in shown
    assert not any(digits in line for line in work(own_stack, "show", name)[0])
    event = next(line for line in shown if line.startswith("event")).split()[1]
    assert work(own_stack, "show", f"profile/{event}", "--numbers")[0][:5] == shown[:5]
    assert work(own_stack, "list", "--queue", "events")[0] == [f"{service}: nothing is held" for service in SERVICES]
    _, problem = work(own_stack, "retry", name, "profile/999999", status=1)
    assert "no work 999999 is held; 1 will be retried" in problem
    process_table.wait_until(
        lambda: own_stack.sql("SELECT count(*) FROM profile.work WHERE queue = 'phone_events'") == "0", 10, "the delivery")
    # Behind it went who has the number: nobody, so that invites links nobody by it.
    assert own_stack.sql(f"SELECT count(*) FROM invites.phones WHERE phone = '{digits}' AND user_id IS NOT NULL") == "0"


def test_work_is_discarded(own_stack):
    app = App(own_stack)
    app.sign_in()
    name = park(own_stack, app)
    assert work(own_stack, "discard", name)[0] == ["profile: 1 discarded"]
    assert "is parked; 0 discarded" in work(own_stack, "discard", name, status=1)[1]


@pytest.mark.parametrize("arguments", [
    ["retry"], ["retry", "--all", "profile/1"], ["retry", "--all", "--queue", "events"], ["show", "17"], ["show", "nobody/1"],
    ["show", "profile/x"], ["show", "profile/0"], ["list", "--limit", "0"]])
def test_malformed_arguments_are_rejected(own_stack, arguments):
    work(own_stack, *arguments, status=64)


def test_unknown_work_is_an_error(own_stack):
    assert "no work 99999 waits or is parked" in work(own_stack, "show", "profile/99999", status=1)[1]
