"""Whether the harness finds what it is for: kits with a fault fail, and the kit without it doesn't (the other tests)."""

import shutil

import pytest

import driver
import event_loop
import interpreter
from faulty_kits import FAULTY
from histories import History
from kills import Kills
from test_histories import drivers

#: A fault that no history of so many shows is not found.
ROUNDS = 1000
KILLS = 400


async def first_failure(command):
    """The first seed whose history fails, or None."""
    async with drivers(command) as started:
        for seed in range(1, ROUNDS + 1):
            try:
                await History(started, seed).live()
            except AssertionError:
                return seed
    return None


@pytest.mark.parametrize("faulty", [each for each in FAULTY if each.case is None], ids=lambda each: each.name)
def test_a_history_fails(faulty, tmp_path, monkeypatch, record_property):
    if shutil.which("node") is None:
        pytest.skip("Node is missing")
    faulty.make(tmp_path)
    monkeypatch.setenv("KIT", str(tmp_path))
    seed = event_loop.run(first_failure(driver.command("javascript")))
    assert seed is not None, f"no history of {ROUNDS} shows that {faulty.name}"
    record_property("seed", seed)
    print(f"{faulty.name}: seed {seed}")


@pytest.mark.parametrize("faulty", [each for each in FAULTY if each.case not in (None, "kills")], ids=lambda each: each.name)
def test_a_case_fails(faulty, tmp_path, monkeypatch):
    faulty.make(tmp_path)
    monkeypatch.setenv("KIT", str(tmp_path))
    with pytest.raises(AssertionError):
        event_loop.run(interpreter.run_case(driver.command("javascript"), interpreter.load()[faulty.case]))


def test_a_kill_finds_a_record_that_is_written_in_place(tmp_path, monkeypatch):
    faulty, = (each for each in FAULTY if each.case == "kills")
    faulty.make(tmp_path)
    monkeypatch.setenv("KIT", str(tmp_path))
    with pytest.raises(AssertionError):
        event_loop.run(Kills(driver.command("javascript"), 1).run(KILLS))
