"""`vestibule status`, and the other commands of operators beside `make run` without any configuration of their own."""

import json
import signal
import subprocess
import time

import pytest

from app import App
from stack import MEASURED, clean_environment, new_stack, program


@pytest.fixture(scope="module")
def own_stack():
    with new_stack() as stack:
        stack.start()
        yield stack


def status(stack, *arguments, code=0, **more_environment):
    result = stack.command("status", *arguments, **more_environment)
    assert result.returncode == code, (result.stdout, result.stderr)
    return result.stdout


def test_one_screen_says_that_all_is_well(own_stack):
    App(own_stack).sign_in()
    lines = status(own_stack).splitlines()
    assert lines[0].split() == ["PROGRAM", "ADDRESS", "VERSION", "READY", "UP", "CALLS", "FAILED", "DATABASE", "MEMORY", "CERTIFICATE"]
    rows = {line.split()[0]: line.split() for line in lines[1:5]}
    assert list(rows) == list(MEASURED)
    for name in MEASURED:
        assert rows[name][1] == own_stack.metrics_addresses[name]
    assert rows["identity"][3] == "yes" and rows["gateway"][3] == "-"
    assert lines[-1] == "Nothing needs attention."
    assert max(map(len, lines)) <= 120


def test_json_has_numbers(own_stack):
    App(own_stack).sign_in()
    (line,) = status(own_stack, "--json").splitlines()
    shown = json.loads(line)
    assert [one["program"] for one in shown["programs"]] == list(MEASURED)
    assert shown["findings"] == []
    identity = shown["programs"][0]
    assert identity["answers"] and identity["ready"] and identity["calls"] > 0 and identity["failed_calls"] == 0
    assert identity["database_connections"] > 0 and identity["database_timeline"] == 1
    assert abs(identity["database_clock_offset_seconds"]) < 5
    assert abs(time.time() - identity["started_at"]) < 600


def test_it_shows_it_again_and_stops_at_ctrl_c(own_stack):
    process = subprocess.Popen(
        [program("vestibule"), "status", "--watch", "--json"],
        env={**clean_environment(), "VESTIBULE_RUN_FOLDER": str(own_stack.folder)}, stdout=subprocess.PIPE, text=True)
    lines = [json.loads(process.stdout.readline()) for _ in range(2)]
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == -signal.SIGINT
    assert all(line["findings"] == [] for line in lines)


def test_a_program_that_is_away_is_a_failure(own_stack):
    addresses = [f"--target={name}={address}" for name, address in own_stack.metrics_addresses.items()]
    lines = status(own_stack, *addresses[:3], "--target=gateway=127.0.0.3:9", code=1).splitlines()
    assert lines[4].split()[:4] == ["gateway", "127.0.0.3:9", "-", "no"]
    assert lines[-1].startswith("failure: gateway at 127.0.0.3:9 does not answer")


def test_without_addresses_it_says_what_to_pass(tmp_path):
    result = subprocess.run(
        [program("vestibule"), "status"], env=clean_environment(), cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert result.returncode == 78
    assert "VESTIBULE_IDENTITY_METRICS_LISTEN" in result.stderr and "--target" in result.stderr


@pytest.mark.parametrize("target", ["identity", "identity=", "identity=x", "other=127.0.0.1:1", "identity=127.0.0.1:0"])
def test_a_wrong_target_is_rejected(own_stack, target):
    assert own_stack.command("status", "--target", target).returncode == 64


def test_each_command_finds_what_runs_here(own_stack):
    app = App(own_stack)
    app.sign_in()
    for arguments, words in {
            ("work",): "identity: nothing is held",
            ("account", "trace", app.user_id): '"identity"',
            ("account", "export", app.user_id): app.user_id,
            ("account", "find", app.user_id): app.user_id,
            ("check",): "identity",
            ("upgrade", "--plan"): "nothing to migrate",
            ("sessions", "end", "--account", app.user_id): "nothing was changed"}.items():
        result = own_stack.command(*arguments)
        assert words.lower() in (result.stdout + result.stderr).lower(), (arguments, result.stdout, result.stderr)
        assert "78" not in str(result.returncode), result.stderr


def test_the_file_is_its_owners_and_has_no_secret_of_the_database(own_stack):
    file = own_stack.folder / "operator.env"
    assert file.stat().st_mode & 0o777 == 0o600
    text = file.read_text()
    for secret in (own_stack.folder / "secrets").glob("*password"):
        assert secret.read_text() not in text
    assert "VESTIBULE_RUN_" not in text


def test_a_configured_command_does_not_take_it(own_stack):
    """Otherwise a shell with the variables of a deployment would mix two configurations."""
    result = own_stack.command("work", VESTIBULE_DATABASE_HOST="/nowhere", VESTIBULE_LOG_LEVEL="critical")
    assert result.returncode == 1
    assert "nothing is held" not in result.stdout


def test_it_is_gone_when_nothing_runs():
    with new_stack() as stack:
        stack.start()
        assert (stack.folder / "operator.env").exists()
        assert stack.stop() == 0
        assert not (stack.folder / "operator.env").exists()
        assert stack.command("status").returncode == 78


def test_at_an_address_of_its_own_each_program_has_metrics():
    """As `make run` does, without addresses of metrics."""
    with new_stack(**{f"VESTIBULE_{name.upper()}_METRICS_LISTEN": "" for name in MEASURED}) as stack:
        stack.start()
        shown = json.loads(status(stack, "--json"))
        ports = [stack.addresses[name].split(":")[1] for name in MEASURED]
        assert [one["address"] for one in shown["programs"]] == [f"127.0.0.2:{port}" for port in ports]
        assert shown["findings"] == []
