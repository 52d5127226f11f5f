"""What programs say when they can't use their database: the setting to look at, at once, and nothing else."""

import socket
import subprocess
import time

import pytest

import process_table
from stack import clean_environment, new_stack, program

SERVICES = ("identity", "profile", "invites")
SECRET = "hunter2hunter2"


@pytest.fixture(scope="module")
def own_stack():
    with new_stack() as stack:
        stack.start()
        yield stack


def environment(stack, name, **changes):
    """A program's environment with changes; None takes a variable away."""
    variables = process_table.environment(stack.process_of(name)) | {
        f"VESTIBULE_{name.upper()}_LISTEN": "127.0.0.1:0", f"VESTIBULE_{name.upper()}_METRICS_LISTEN": None} | changes
    return {key: value for key, value in variables.items() if value is not None}


def run(variables, *command, seconds=60):
    return subprocess.run(
        [program(command[0]), *command[1:]], env=variables, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds)


FAULTS = [
    ({"VESTIBULE_DATABASE_NAME": "elsewhere"}, 'database "elsewhere" does not exist', "VESTIBULE_DATABASE_NAME"),
    ({"VESTIBULE_DATABASE_HOST": "127.0.0.1", "VESTIBULE_DATABASE_PORT": "9"}, "Connection refused", "VESTIBULE_DATABASE_HOST and VESTIBULE_DATABASE_PORT"),
    ({"VESTIBULE_DATABASE_HOST": "/nowhere"}, "No such file or directory", "VESTIBULE_DATABASE_HOST"),
    ({"VESTIBULE_DATABASE_HOST": "nowhere.invalid"}, "", "VESTIBULE_DATABASE_HOST"),
    ({"{}_DATABASE_PASSWORD_FILE": None, "{}_DATABASE_PASSWORD": SECRET}, "password authentication failed",
     "{}_DATABASE_PASSWORD and {}_DATABASE_USER"),
    ({"{}_DATABASE_PASSWORD_FILE": None}, "no password supplied", "set {}_DATABASE_PASSWORD"),
    ({"{}_DATABASE_USER": "nobody_there", "{}_DATABASE_PASSWORD_FILE": None, "{}_DATABASE_PASSWORD": SECRET}, "",
     "{}_DATABASE_PASSWORD and {}_DATABASE_USER"),
]


def named(service, changes):
    return {key.format(f"VESTIBULE_{service.upper()}"): value for key, value in changes.items()}


@pytest.mark.parametrize("changes, words, setting", FAULTS)
@pytest.mark.parametrize("service", SERVICES)
def test_a_command_names_the_setting(own_stack, service, changes, words, setting):
    result = run(environment(own_stack, service, VESTIBULE_LOG_LEVEL="critical", **named(service, changes)), service, "work")
    assert result.returncode == 1
    last = result.stderr.splitlines()[-1]
    assert words in last and setting.format(f"VESTIBULE_{service.upper()}", f"VESTIBULE_{service.upper()}") in last, last
    assert SECRET not in result.stdout + result.stderr


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_that_serves_names_the_setting_in_its_log(own_stack, service):
    process = subprocess.Popen(
        [program(service), "serve"], env=environment(own_stack, service, VESTIBULE_DATABASE_NAME="elsewhere"), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            if "could not be made" in line:
                assert "see VESTIBULE_DATABASE_NAME" in line, line
                break
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_the_owner_of_the_tables_has_settings_of_its_own(own_stack):
    result = run(environment(own_stack, "profile", VESTIBULE_PROFILE_DATABASE_OWNER="nobody", VESTIBULE_PROFILE_DATABASE_OWNER_PASSWORD=SECRET),
                 "profile", "migrate")
    assert result.returncode == 1
    assert "VESTIBULE_PROFILE_DATABASE_OWNER_PASSWORD and VESTIBULE_PROFILE_DATABASE_OWNER" in result.stderr.splitlines()[-1]


def test_the_command_that_makes_roles_names_its_own(own_stack):
    known = environment(own_stack, "profile")
    passwords = {f"VESTIBULE_{name.upper()}_DATABASE_PASSWORD": SECRET for name in SERVICES}
    result = run(clean_environment() | passwords | {
        "VESTIBULE_DATABASE_HOST": known["VESTIBULE_DATABASE_HOST"], "VESTIBULE_DATABASE_PORT": known["VESTIBULE_DATABASE_PORT"],
        "VESTIBULE_ROLES_OWNER": "vestibule_profile"}, "vestibule", "roles")
    assert result.returncode == 1
    assert "set VESTIBULE_ROLES_OWNER_PASSWORD" in result.stderr.splitlines()[-1], result.stderr
    assert SECRET not in result.stderr


def test_too_many_connections_name_the_setting(own_stack):
    own_stack.sql("ALTER ROLE vestibule_profile CONNECTION LIMIT 0")
    try:
        result = run(environment(own_stack, "profile", VESTIBULE_LOG_LEVEL="critical"), "profile", "work")
    finally:
        own_stack.sql("ALTER ROLE vestibule_profile CONNECTION LIMIT -1")
    assert result.returncode == 1
    assert "too many connections" in result.stderr and "VESTIBULE_PROFILE_DATABASE_CONNECTIONS" in result.stderr


def test_a_server_without_tls_and_one_without_a_certificate_for_it(own_stack):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        # A server that has no TLS answers the request for it by one letter (protocol message SSLRequest).
        process = subprocess.Popen(
            [program("profile"), "work"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=environment(own_stack, "profile", VESTIBULE_DATABASE_HOST="127.0.0.1", VESTIBULE_DATABASE_PORT=port,
                            VESTIBULE_DATABASE_TLS="require", VESTIBULE_LOG_LEVEL="critical"))
        listener.settimeout(1)
        while process.poll() is None:
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            with connection:
                connection.recv(8)
                connection.sendall(b"N")
        assert "see VESTIBULE_DATABASE_TLS" in process.communicate()[1]
    result = run(environment(own_stack, "profile", VESTIBULE_DATABASE_HOST="127.0.0.1", VESTIBULE_DATABASE_CA_FILE="/nowhere/ca.pem"),
                 "profile", "serve")
    assert result.returncode == 78 and "VESTIBULE_DATABASE_CA_FILE" in result.stderr


@pytest.mark.parametrize("service", SERVICES)
def test_an_unmigrated_schema_is_said_at_once_and_alone(own_stack, service):
    begin = time.monotonic()
    result = run(environment(own_stack, service, **{f"VESTIBULE_{service.upper()}_DATABASE_SCHEMA": "elsewhere"}), service, "serve")
    assert time.monotonic() - begin < 10
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"{service}: the schema lacks migration 1 (") and line.endswith("): run `migrate`")
