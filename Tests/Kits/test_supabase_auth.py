"""The cases with supabase-auth 2.34.1, Supabase's client for Python: which rules it keeps, and which it loses. What was found is stated
here, so that a newer version that does better is noticed."""

import json
import pathlib
import sys

import pytest

import driver
import event_loop
import interpreter
from supabase_dialect import SupabaseWorld, is_spoken

HERE = pathlib.Path(__file__).resolve().parent
COMMAND = [sys.executable, str(HERE / "drivers/supabase-auth/driver.py")]
ANSWER_SECONDS = 8
FINDINGS = json.loads((HERE / "supabase_auth.json").read_text())
CASES = {name: case for name, case in interpreter.load().items() if is_spoken(case)}


@pytest.fixture(autouse=True)
def less_patience(monkeypatch):
    """Some of what it doesn't do is found by waiting for it."""
    monkeypatch.setattr(driver, "ANSWER_SECONDS", ANSWER_SECONDS)


def test_every_case_that_can_be_spoken_is_stated():
    assert sorted(name for part in FINDINGS.values() for name in part) == sorted(CASES)


def test_the_page_tells_what_was_found():
    page = (HERE / "README.md").read_text()
    for name, effect in {**FINDINGS["loses"], **FINDINGS["differs"], **FINDINGS["depends on the timing"]}.items():
        assert f"| {name} | {effect} |" in page, name


@pytest.mark.parametrize("name", [*FINDINGS["loses"], *FINDINGS["differs"]])
def test_it_does_not_pass(name):
    with pytest.raises(AssertionError):
        event_loop.run(interpreter.run_case(COMMAND, CASES[name], SupabaseWorld))


@pytest.mark.parametrize("name", FINDINGS["keeps"])
def test_it_passes(name):
    event_loop.run(interpreter.run_case(COMMAND, CASES[name], SupabaseWorld))
