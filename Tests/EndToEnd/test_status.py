"""`vestibule status`, and the other commands of operators beside `make run` without any configuration of their own."""

import json
import re
import signal
import subprocess
import time

import pytest

import process_table
from app import App
from stack import MEASURED, clean_environment, new_stack, program


@pytest.fixture(scope="module")
def own_stack():
    with new_stack() as stack:
        stack.start()
        yield stack


#: Whether a machine is kept right by NTP is nothing that a test decides.
NTP = "no NTP keeps its machine's clock right"


def status(stack, *arguments, code=0, **more_environment):
    result = stack.command("status", *arguments, **more_environment)
    assert result.returncode == code, (result.stdout, result.stderr)
    return result.stdout


def findings(shown):
    """What was found, but for what the machine says about NTP."""
    return [one for one in shown["findings"] if NTP not in one["problem"]]


def test_one_screen_says_that_all_is_well(own_stack):
    App(own_stack).sign_in()
    lines = status(own_stack).splitlines()
    assert lines[0].split() == ["PROGRAM", "ADDRESS", "VERSION", "READY", "UP", "CALLS", "FAILED", "DATABASE", "MEMORY", "CERTIFICATE"]
    rows = {line.split()[0]: line.split() for line in lines[1:5]}
    assert list(rows) == list(MEASURED)
    for name in MEASURED:
        assert rows[name][1] == own_stack.metrics_addresses[name]
    assert rows["identity"][3] == "yes" and rows["gateway"][3] == "-"
    shared = {line.split()[0]: line for line in lines[6:10]}
    assert list(shared) == ["database", "keys", "work", "clocks"]
    assert re.search(r"timeline 1, \d+ MB, standbys 0, writes refused 0$", shared["database"])
    for kind in ("cursor", "proof", "refresh", "rsa", "signing", "vault"):
        assert re.search(rf"\b{kind} (\dm )?\d+s", shared["keys"]), shared["keys"]
    assert "nothing waits" in shared["work"]
    assert re.search(r"PostgreSQL's differs by 0\.\d s, NTP is (not )?in step$", shared["clocks"])
    assert lines[10] == ""
    (last,) = lines[11:]
    assert last == "Nothing needs attention." or NTP in last
    # What is found is as long as it is.
    assert max(map(len, lines[:10])) <= 120


def test_json_has_numbers(own_stack):
    App(own_stack).sign_in()
    (line,) = status(own_stack, "--json").splitlines()
    shown = json.loads(line)
    assert [one["program"] for one in shown["programs"]] == list(MEASURED)
    assert findings(shown) == []
    identity = shown["programs"][0]
    assert identity["answers"] and identity["ready"] and identity["calls"] > 0 and identity["failed_calls"] == 0
    assert identity["database_connections"] > 0 and identity["database_timeline"] == 1
    assert abs(identity["database_clock_offset_seconds"]) < 5
    assert abs(time.time() - identity["started_at"]) < 600
    system = shown["system"]
    assert system["database"]["timeline"] == 1 and system["database"]["size_bytes"] > 1e6
    assert system["database"]["standbys"] == 0 and system["database"]["slot_wal_bytes"] == {}
    assert set(system["key_age_seconds"]) == {"cursor", "proof", "refresh", "rsa", "signing", "vault"}
    assert all(0 <= age < 600 for age in system["key_age_seconds"].values())
    assert system["work"] == []


def test_it_shows_what_postgresql_keeps_for_a_standby_that_is_away(own_stack):
    """As the service's plain role, which is no member of pg_monitor. Read every half minute."""
    own_stack.sql("SELECT pg_create_physical_replication_slot('away', true); SELECT pg_switch_wal();")
    try:
        process_table.wait_until(
            lambda: "slot away keeps" in status(own_stack), 60, lambda: f"the slot; it says\n{status(own_stack)}")
        slots = json.loads(status(own_stack, "--json"))["system"]["database"]["slot_wal_bytes"]
        assert list(slots) == ["away"] and slots["away"] > 0
    finally:
        own_stack.sql("SELECT pg_drop_replication_slot('away');")


def test_waiting_work_is_shown_with_the_age_of_the_oldest(own_stack):
    own_stack.sql(
        "INSERT INTO profile.work (queue, event_id, due_at, created_at) "
        "SELECT 'phone_events', gen_random_uuid(), now() + interval '1 hour', now() - interval '90 minutes'")
    process_table.wait_until(
        lambda: "phone_events: 1 waiting, oldest 1h 30m" in status(own_stack), 30, lambda: status(own_stack))
    shown = json.loads(status(own_stack, "--json"))
    (queue,) = shown["system"]["work"]
    assert queue["name"] == "phone_events" and 5300 < queue["oldest_age_seconds"] < 5700
    own_stack.sql("DELETE FROM profile.work")
    (found,) = findings(shown)
    assert found["severity"] == "warning" and "an item of phone_events waits for 5" in found["problem"] and found["mend"]
    process_table.wait_until(lambda: "nothing waits" in status(own_stack), 30, lambda: status(own_stack))


def test_it_shows_it_again_and_stops_at_ctrl_c(own_stack):
    process = subprocess.Popen(
        [program("vestibule"), "status", "--watch", "--json"],
        env={**clean_environment(), "VESTIBULE_RUN_FOLDER": str(own_stack.folder)}, stdout=subprocess.PIPE, text=True)
    lines = [json.loads(process.stdout.readline()) for _ in range(2)]
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == -signal.SIGINT
    assert all(findings(line) == [] for line in lines)


def test_a_program_that_is_away_is_a_failure(own_stack):
    addresses = [f"--target={name}={address}" for name, address in own_stack.metrics_addresses.items()]
    lines = status(own_stack, *addresses[:3], "--target=gateway=127.0.0.3:9", code=1).splitlines()
    assert lines[4].split()[:4] == ["gateway", "127.0.0.3:9", "-", "no"]
    assert any(line.startswith("failure: gateway at 127.0.0.3:9 does not answer") for line in lines[11:])


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
        assert findings(shown) == []
