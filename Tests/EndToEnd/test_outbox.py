"""`vestibule outbox`: events that a service didn't take, looked at and released."""

import subprocess

import pytest

import process_table
from app import App
from stack import new_stack, program


@pytest.fixture(scope="module")
def own_stack():
    with new_stack() as stack:
        stack.start()
        yield stack


def outbox(stack, *arguments, status=0):
    """What it prints, with the configurations of the stack's services."""
    environment = {}
    for name in ("identity", "profile", "invites"):
        environment |= process_table.environment(stack.process_of(name))
    told = subprocess.run(
        [program("vestibule"), "outbox", *arguments], env=environment, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=60)
    assert told.returncode == status, (told.stdout, told.stderr)
    return told.stdout.splitlines(), told.stderr


def set_aside(stack, app):
    """As if invites had refused that the person has a number; its name."""
    row = stack.sql(
        "INSERT INTO profile.outbox (event_id, kind, phone, user_id, created_at, rejected_at, rejection) VALUES "
        f"(gen_random_uuid(), 'claimed', '{app.person.digits}', '{app.user_id}', now(), now(), 'BAD') RETURNING id")
    return f"profile/invites/{row.splitlines()[0]}"


def test_nothing_is_held(own_stack):
    lines, _ = outbox(own_stack)
    assert lines == [f"{name}: nothing is held" for name in ("identity", "profile", "invites")]
    assert outbox(own_stack, "release", "--all")[0] == [f"{name}: released 0" for name in ("identity", "profile", "invites")]


def test_an_event_is_looked_at_and_released(own_stack):
    app = App(own_stack)
    app.sign_in()
    name = set_aside(own_stack, app)
    lines, _ = outbox(own_stack, "list")
    (line,) = [line for line in lines if "nothing is held" not in line]
    digits = app.person.digits
    assert line.startswith(f"{name}  claimed …{digits[-3:]} by {app.user_id}  ") and "set aside  BAD" in line and digits not in line
    shown, _ = outbox(own_stack, "show", name, "--numbers")
    assert f"about: claimed +{digits} by {app.user_id}" in shown and "state: set aside" in shown
    assert not any(digits in line for line in outbox(own_stack, "show", name)[0])
    lines, problem = outbox(own_stack, "release", name, "profile/invites/999999", status=1)
    assert "no event invites/999999 is held; released 1 of the others" in problem
    process_table.wait_until(lambda: own_stack.sql("SELECT count(*) FROM profile.outbox") == "0", 10, "the delivery")
    # Behind it went who has the number: nobody, so that invites links nobody by it.
    assert own_stack.sql(f"SELECT count(*) FROM invites.phones WHERE phone = '{digits}' AND user_id IS NOT NULL") == "0"


def test_an_event_is_discarded(own_stack):
    app = App(own_stack)
    app.sign_in()
    name = set_aside(own_stack, app)
    assert outbox(own_stack, "discard", name)[0] == ["profile: discarded 1"]
    assert "is set aside; discarded 0" in outbox(own_stack, "discard", name, status=1)[1]


@pytest.mark.parametrize("arguments", [
    ["release"], ["release", "--all", "profile/invites/1"], ["show", "17"], ["show", "nobody/invites/1"], ["show", "profile/invites/x"],
    ["show", "profile/invites/0"], ["list", "--limit", "0"]])
def test_what_is_no_event_is_refused(own_stack, arguments):
    outbox(own_stack, *arguments, status=64)


def test_nothing_is_told_there(own_stack):
    assert "unknown receiver gateway; expected one of invites, identity" in outbox(own_stack, "show", "profile/gateway/1", status=1)[1]
