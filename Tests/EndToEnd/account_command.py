"""`vestibule account` against a stack: what is known of an account, and what is left of one."""

import json
import subprocess

import process_table
from stack import program

NOTHING = 0
SOMETHING = 3


def account(stack, *arguments):
    """`vestibule account …` with the configurations of the stack's services."""
    environment = {}
    for name in ("identity", "profile", "invites"):
        environment |= process_table.environment(stack.process_of(name))
    return subprocess.run(
        [program("vestibule"), "account", *arguments], env=environment, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=60)


def trace(stack, user_id):
    """What is left of an account, by service, and whether something is that must not be."""
    told = account(stack, "trace", user_id)
    assert told.returncode in (NOTHING, SOMETHING), told.stderr
    answers = {answer["service"]: answer for answer in map(json.loads, told.stdout.splitlines())}
    assert set(answers) == {"identity", "profile", "invites"}
    assert any(answer["left"] for answer in answers.values()) == (told.returncode == SOMETHING)
    return answers


def is_forgotten(stack, user_id):
    return not any(answer["left"] for answer in trace(stack, user_id).values())
