"""`vestibule drill`: a database is destroyed under load and restored, or backups are restored aside; nothing else is touched."""

import os
import re
import signal
import subprocess

import pytest

import process_table
from app import App
from stack import clean_environment, new_stack, program


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "drill"


def drill(folder, *arguments, **environment):
    return subprocess.run(
        [program("vestibule"), "drill", "--folder", str(folder), *arguments], env={**clean_environment(), **environment},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)


def figure(output, name):
    found = re.search(rf"^{name} +(.*)$", output, re.MULTILINE)
    assert found, (name, output)
    return found[1]


def test_what_was_acknowledged_before_the_database_was_destroyed_is_there_again(folder):
    # A variable of a deployment leads it nowhere else.
    result = drill(folder, "--accounts", "500", "--seconds", "2", VESTIBULE_DATABASE_HOST="database.example.com",
                   VESTIBULE_IDENTITY_DATABASE_SCHEMA="other")
    assert result.returncode == 0, (result.stdout, result.stderr)
    assert "destroyed the database under load" in result.stdout and "the drill passed" in result.stdout
    written, missing = map(int, re.match(r"(\d+) acknowledged, (\d+) missing", figure(result.stdout, "writes")).groups())
    assert written > 20 and missing < written
    accounts, before = map(int, re.match(r"(\d+), (\d+) of them", figure(result.stdout, "accounts")).groups())
    assert before == 500 and accounts > before
    assert int(figure(result.stdout, "deletions").split()[0]) >= 1
    assert not folder.exists()


def test_a_drill_that_takes_too_long_fails(folder):
    result = drill(folder, "--accounts", "10", "--seconds", "1", "--serving-within", "0.001")
    assert result.returncode == 1 and "THE DRILL FAILED" in result.stdout, (result.stdout, result.stderr)
    assert not folder.exists()


def test_a_folder_that_no_drill_made_is_left_alone(folder):
    folder.mkdir()
    (folder / "letter").write_text("dear")
    result = drill(folder)
    assert result.returncode == 1 and "no drill made it" in result.stderr, result.stderr
    assert [file.name for file in folder.iterdir()] == ["letter"]


@pytest.mark.parametrize("arguments", [
    ("--accounts", "0"), ("--accounts", "10000000"), ("--phones", "33"), ("--seconds", "0"), ("--backup", "x"),
    ("--to", "2026-11-28T00:00:00Z")])
def test_wrong_arguments_are_refused_before_anything_is_made(folder, arguments):
    result = drill(folder, *arguments)
    assert result.returncode == 64, result.stderr
    assert not folder.exists()


def test_an_interrupted_drill_stops_everything_and_the_next_one_begins_anew(folder):
    process = subprocess.Popen(
        [program("vestibule"), "drill", "--folder", str(folder), "--accounts", "100", "--seconds", "600", "--keep"],
        env=clean_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for line in process.stdout:
            if "phones call" in line:
                break
        server = int((folder / "postgres/data/postmaster.pid").resolve().read_text().split()[0])
        process.send_signal(signal.SIGINT)
        assert "stopped before its end" in process.communicate(timeout=60)[0]
        assert process.returncode == 130
    finally:
        process.kill()
        process.wait(10)
    process_table.wait_until(lambda: not os.path.exists(f"/proc/{server}"), 10, lambda: f"the server {server} to be gone")
    assert (folder / "backup").exists()
    result = drill(folder, "--accounts", "10", "--seconds", "1")
    assert result.returncode == 0, (result.stdout, result.stderr)
    assert not folder.exists()


def test_the_backups_of_a_running_system_are_restored_aside(folder):
    with new_stack() as stack:
        stack.start()
        app = App(stack)
        app.sign_in()
        assert stack.command("backup", seconds=120).returncode == 0
        backups = stack.folder / "backup"
        before = sorted(str(path) for path in backups.rglob("*"))
        result = drill(folder, "--from", str(backups))
        assert result.returncode == 0, (result.stdout, result.stderr)
        assert figure(result.stdout, "accounts") == "1" and "the drill passed" in result.stdout
        # Nothing of the system or of its backups changed: its sessions go on.
        assert app.get("/me").status == 200
        assert sorted(str(path) for path in backups.rglob("*")) == before
    assert not folder.exists()


def test_without_a_backup_there_is_nothing_to_restore(folder, tmp_path):
    result = drill(folder, "--from", str(tmp_path / "none"))
    assert result.returncode == 1 and "has no complete backup" in result.stderr, result.stderr
    assert not folder.exists()
