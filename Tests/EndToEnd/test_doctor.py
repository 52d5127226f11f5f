"""`vestibule doctor`: what is wrong with a configuration or a running system, one finding a line, with what mends it."""

import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import threading
import time

import pytest

from stack import MEASURED, clean_environment, new_stack, program, run_vestibule, short_folder

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECRET = "hunter2hunter2"
#: Whether a machine is kept right by NTP is nothing that a test decides.
NTP = "no NTP keeps its machine's clock right"


@pytest.fixture(scope="module")
def own_stack():
    with new_stack() as stack:
        stack.start()
        yield stack


class Doctor:
    """The configuration of a running stack, with changes, before anything of it runs."""

    def __init__(self, stack, folder):
        lines = (stack.folder / "operator.env").read_text().splitlines()
        self.entries = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
        # Nothing of it runs, and its ports are free.
        for name in MEASURED:
            self.entries.pop(f"VESTIBULE_{name.upper()}_METRICS_LISTEN", None)
            self.entries[f"VESTIBULE_{name.upper()}_LISTEN"] = "127.0.0.1:0"
        self.file = folder / "vestibule.conf"

    def run(self, changes, *arguments, seconds=100, command=("vestibule",), **environment):
        entries = {name: value for name, value in {**self.entries, **changes}.items() if value is not None}
        self.file.write_text("".join(f"{name}={value}\n" for name, value in entries.items()))
        return subprocess.run(
            [program(command[0]), *command[1:], "doctor", "--config", str(self.file), *arguments], env={**clean_environment(), **environment},
            capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds, cwd=self.file.parent)

    def findings(self, changes, **options):
        result = self.run(changes, "--json", **options)
        (line,) = result.stdout.splitlines()
        shown = json.loads(line)
        severities = {one["severity"] for one in shown["findings"]}
        assert result.returncode == (2 if "failure" in severities else 1 if severities else 0), (result.stdout, result.stderr)
        assert not shown["is_running"]
        return shown["findings"]

    def only_finding(self, changes, **options):
        found = self.findings(changes, **options)
        assert len(found) == 1, found
        return found[0]


@pytest.fixture
def doctor(own_stack, tmp_path):
    return Doctor(own_stack, tmp_path)


def test_a_running_system_that_is_well(own_stack):
    result = own_stack.command("doctor", "--json")
    shown = json.loads(result.stdout)
    assert shown["is_running"]
    assert [one for one in shown["findings"] if NTP not in one["problem"]] == []
    assert result.returncode == (1 if shown["findings"] else 0)
    lines = own_stack.command("doctor").stdout.splitlines()
    assert lines == ["Nothing needs attention."] or (len(lines) == 1 and lines[0].startswith("warning: identity at ") and NTP in lines[0])


def test_a_running_system_that_is_not(own_stack):
    own_stack.sql("INSERT INTO profile.work (queue, event_id, created_at, parked_at) VALUES ('phone_events', gen_random_uuid(), now(), now())")
    deadline = time.monotonic() + 30
    while "phone_events failed for good; `vestibule work list" not in (text := own_stack.command("doctor").stdout):
        assert time.monotonic() < deadline, text
        time.sleep(1)
    own_stack.sql("DELETE FROM profile.work WHERE parked_at IS NOT NULL")


def test_a_configuration_that_is_well(doctor):
    result = doctor.run({})
    assert result.stdout.splitlines() == ["Nothing needs attention.", "No program answers, so only the configuration was examined."]
    assert result.returncode == 0


@pytest.mark.parametrize("name", MEASURED)
def test_each_program_has_one_of_its_own(doctor, name):
    good = doctor.run({}, command=(name,))
    assert (good.returncode, good.stdout) == (0, "Nothing needs attention.\n")
    bad = doctor.run({"VESTIBULE_EVENT_LOOPS": "many"}, command=(name,))
    assert bad.returncode == 2
    assert bad.stdout == 'failure: VESTIBULE_EVENT_LOOPS must be a whole number from 0 to 256, not "many"\n'


def test_an_empty_folder_says_what_is_required(tmp_path):
    result = subprocess.run([program("vestibule"), "doctor"], env=clean_environment(), cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert result.returncode == 2
    assert "failure: VESTIBULE_IDENTITY_ISSUER is required" in result.stdout


# Settings

def test_faults_of_all_programs_are_reported_together_and_once(doctor):
    found = doctor.findings({
        "VESTIBULE_LOG_LEVEL": "loud", "VESTIBULE_GATEWAY_TRUSTED_PROXIES": "10.0.0.0/8,10.0.0.1/8", "VESTIBULE_PROFILE_LISTNE": "x"})
    assert [(one["severity"], one["subject"]) for one in found] == [
        ("failure", "VESTIBULE_LOG_LEVEL"), ("failure", "VESTIBULE_PROFILE_LISTNE"), ("failure", "VESTIBULE_GATEWAY_TRUSTED_PROXIES")]
    assert "did you mean VESTIBULE_PROFILE_LISTEN?" in found[1]["problem"]
    assert '"10.0.0.1/8"' in found[2]["problem"]


def test_a_misspelt_variable_is_a_warning(doctor):
    found = doctor.only_finding({}, VESTIBULE_PROFILE_LISTNE=SECRET)
    assert found["severity"] == "warning" and found["subject"] == "VESTIBULE_PROFILE_LISTNE"
    assert SECRET not in json.dumps(found)


def test_everybody_as_a_proxy_is_a_failure(doctor):
    found = doctor.only_finding({"VESTIBULE_GATEWAY_TRUSTED_PROXIES": "0.0.0.0/0"})
    assert (found["severity"], found["subject"]) == ("failure", "VESTIBULE_GATEWAY_TRUSTED_PROXIES")
    assert found["mend"]


def test_public_urls_that_differ(doctor):
    found = doctor.findings({"VESTIBULE_GATEWAY_PUBLIC_URL": "https://other.example.com"})
    assert ["VESTIBULE_IDENTITY_ISSUER", "VESTIBULE_GATEWAY_TRUSTED_PROXIES"] == sorted((one["subject"] for one in found), reverse=True)
    assert all(one["severity"] == "warning" for one in found)


def test_a_service_that_everybody_reaches(doctor):
    found = doctor.findings({"VESTIBULE_PROFILE_LISTEN": "0.0.0.0:0", "VESTIBULE_PROFILE_INSECURE": "true"})
    (one,) = [one for one in found if one["subject"] == "VESTIBULE_PROFILE_INSECURE"]
    assert one["severity"] == "warning" and "VESTIBULE_PROFILE_TLS_CERTIFICATE_FILE" in one["mend"]


# Files

def test_a_secret_that_others_may_read(doctor):
    with short_folder() as folder:
        secret = folder / "password"
        secret.write_text(SECRET)
        secret.chmod(0o644)
        changes = {"VESTIBULE_PROFILE_DATABASE_OWNER_PASSWORD_FILE": str(secret)}
        found = doctor.only_finding(changes)
        assert found == {
            "severity": "warning", "subject": "VESTIBULE_PROFILE_DATABASE_OWNER_PASSWORD_FILE",
            "problem": f"names {secret}, which any user of this machine may read", "mend": f"chmod 600 {secret}"}
        secret.chmod(0o666)
        assert doctor.only_finding(changes)["severity"] == "failure"
        secret.chmod(0o600)
        assert doctor.findings(changes) == []


def test_a_pipe_in_the_place_of_a_file_does_not_hang_it(doctor, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    begin = time.monotonic()
    found = doctor.only_finding({
        "VESTIBULE_PROFILE_DATABASE_PASSWORD": None, "VESTIBULE_PROFILE_DATABASE_PASSWORD_FILE": str(tmp_path / "pipe")})
    assert found["subject"] == "VESTIBULE_PROFILE_DATABASE_PASSWORD" and "pipe that nothing is written to" in found["problem"]
    assert time.monotonic() - begin < 30


@pytest.mark.parametrize("key", [
    "VESTIBULE_PROFILE_TLS_CERTIFICATE_FILE", "VESTIBULE_PROFILE_TLS_KEY_FILE", "VESTIBULE_GATEWAY_TLS_CLIENT_CERTIFICATE_FILE"])
def test_a_pipe_in_the_place_of_a_certificate_does_not_hang_it(doctor, secrets, tmp_path, key):
    os.mkfifo(tmp_path / "pipe")
    begin = time.monotonic()
    name = key.split("_")[1].lower()
    changes = tls(secrets) | {"VESTIBULE_GATEWAY_TLS_CLIENT_KEY_FILE": str(secrets / "gateway-key.pem")} if name == "gateway" else tls(secrets)
    found = doctor.only_finding({**changes, key: str(tmp_path / "pipe")})
    assert found["subject"] == key and "which is a pipe" in found["problem"]
    assert time.monotonic() - begin < 40


def test_a_folder_of_crash_reports_that_is_not_there(doctor, tmp_path):
    found = doctor.findings({"VESTIBULE_CRASHES_FOLDER": str(tmp_path / "none")})
    assert {(one["severity"], one["subject"]) for one in found} == {("warning", "VESTIBULE_CRASHES_FOLDER")}


# Certificates

@pytest.fixture(scope="module")
def secrets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("init") / "secrets"
    assert run_vestibule("init", "--folder", str(folder)).returncode == 0
    return folder


def tls(secrets, name="profile", **changes):
    prefix = f"VESTIBULE_{name.upper()}_TLS"
    files = {
        f"{prefix}_CERTIFICATE_FILE": secrets / f"{name}.pem", f"{prefix}_KEY_FILE": secrets / f"{name}-key.pem",
        "VESTIBULE_SERVICES_CA_FILE": secrets / "ca.pem"}
    return {**{key: str(path) for key, path in files.items()}, **changes}


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def test_certificates_of_init_are_well(doctor, secrets):
    assert doctor.findings(tls(secrets)) == []


def test_a_certificate_of_another_authority(doctor, secrets, tmp_path):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=other", "-days", "30",
            "-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "other.pem"))
    found = doctor.only_finding(tls(secrets, VESTIBULE_SERVICES_CA_FILE=str(tmp_path / "other.pem")))
    assert (found["severity"], found["subject"]) == ("failure", "VESTIBULE_PROFILE_TLS_CERTIFICATE_FILE")
    assert "reject" in found["problem"] and "VESTIBULE_SERVICES_CA_FILE" in found["mend"]


def test_a_certificate_for_another_name(doctor, secrets):
    found = doctor.only_finding(tls(secrets, VESTIBULE_PROFILE_TLS_NAME="elsewhere"))
    assert (found["severity"], found["subject"]) == ("failure", "VESTIBULE_PROFILE_TLS_NAME")


def test_a_key_of_another_certificate(doctor, secrets):
    found = doctor.only_finding(tls(secrets, VESTIBULE_PROFILE_TLS_KEY_FILE=str(secrets / "identity-key.pem")))
    assert (found["severity"], found["subject"]) == ("failure", "VESTIBULE_PROFILE_TLS_KEY_FILE")


def test_garbage_in_the_place_of_a_certificate(doctor, secrets, tmp_path):
    (tmp_path / "garbage").write_bytes(os.urandom(5000))
    found = doctor.only_finding(tls(secrets, VESTIBULE_PROFILE_TLS_CERTIFICATE_FILE=str(tmp_path / "garbage")))
    assert (found["severity"], found["subject"]) == ("failure", "VESTIBULE_PROFILE_TLS_CERTIFICATE_FILE")


def test_a_certificate_that_ends_soon(doctor, tmp_path):
    files = {"VESTIBULE_GATEWAY_TLS_CERTIFICATE_FILE": str(tmp_path / "own.pem"), "VESTIBULE_GATEWAY_TLS_KEY_FILE": str(tmp_path / "key"),
             "VESTIBULE_GATEWAY_TLS_CA_FILE": str(tmp_path / "own.pem"), "VESTIBULE_GATEWAY_TLS_NAME": "api.example.com"}
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x", "-days", "5",
            "-addext", "subjectAltName=DNS:api.example.com", "-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "own.pem"))
    found = doctor.only_finding(files)
    assert (found["severity"], found["subject"]) == ("warning", "VESTIBULE_GATEWAY_TLS_CERTIFICATE_FILE")
    # It was made a moment ago.
    assert re.search("ends in [45] days", found["problem"])


# Ports and names

def test_a_port_that_another_process_has(doctor):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        found = doctor.only_finding({"VESTIBULE_PROFILE_METRICS_LISTEN": address})
    assert (found["severity"], found["subject"]) == ("failure", "VESTIBULE_PROFILE_METRICS_LISTEN")
    assert f"is {address}, where " in found["problem"] and f"(pid {os.getpid()})" in found["problem"]


def test_names_without_an_address(doctor):
    found = doctor.findings({"VESTIBULE_INVITES_ADDRESS": "nowhere.invalid:7003", "VESTIBULE_GATEWAY_LISTEN": "192.0.2.1:8080"})
    assert {(one["severity"], one["subject"]) for one in found} == {
        ("failure", "VESTIBULE_INVITES_ADDRESS"), ("failure", "VESTIBULE_GATEWAY_LISTEN")}


# The database

@pytest.mark.parametrize("changes, setting, words", [
    ({"VESTIBULE_DATABASE_NAME": "elsewhere"}, "VESTIBULE_DATABASE_NAME", 'database "elsewhere" does not exist'),
    ({"VESTIBULE_DATABASE_HOST": "127.0.0.1", "VESTIBULE_DATABASE_PORT": "9"}, "VESTIBULE_DATABASE_HOST", "Connection refused"),
    ({"VESTIBULE_DATABASE_HOST": "/nowhere"}, "VESTIBULE_DATABASE_HOST", "No such file or directory"),
    ({"VESTIBULE_DATABASE_HOST": "nowhere.invalid"}, "VESTIBULE_DATABASE_HOST", "has no address"),
])
def test_a_database_that_is_elsewhere_is_one_finding_of_all_services(doctor, changes, setting, words):
    found = doctor.only_finding(changes)
    assert (found["severity"], found["subject"]) == ("failure", setting)
    assert words in found["problem"] and setting in found["mend"]


@pytest.mark.parametrize("changes, setting", [
    ({"VESTIBULE_PROFILE_DATABASE_PASSWORD_FILE": None, "VESTIBULE_PROFILE_DATABASE_PASSWORD": SECRET},
     "VESTIBULE_PROFILE_DATABASE_PASSWORD"),
    ({"VESTIBULE_PROFILE_DATABASE_PASSWORD_FILE": None}, "VESTIBULE_PROFILE_DATABASE_PASSWORD"),
    ({"VESTIBULE_PROFILE_DATABASE_OWNER": "nobody_there", "VESTIBULE_PROFILE_DATABASE_OWNER_PASSWORD": SECRET},
     "VESTIBULE_PROFILE_DATABASE_OWNER_PASSWORD"),
    ({"VESTIBULE_PROFILE_DATABASE_SCHEMA": "elsewhere"}, "VESTIBULE_PROFILE_DATABASE_SCHEMA"),
    ({"VESTIBULE_PROFILE_DATABASE_CONNECTIONS": "200"}, "VESTIBULE_PROFILE_DATABASE_CONNECTIONS"),
])
def test_what_a_service_is_at_fault_for(doctor, changes, setting):
    found = doctor.only_finding(changes)
    assert found["subject"] == setting
    assert SECRET not in json.dumps(found)


def test_an_unmigrated_schema_names_the_command(doctor):
    found = doctor.only_finding({"VESTIBULE_PROFILE_DATABASE_SCHEMA": "elsewhere"})
    assert found["severity"] == "failure" and "lacks migration 1" in found["problem"] and "run `migrate`" in found["problem"]


def test_a_database_that_takes_the_connection_and_says_nothing(doctor):
    with silent_server() as address:
        host, port = address.split(":")
        begin = time.monotonic()
        found = doctor.only_finding({"VESTIBULE_DATABASE_HOST": host, "VESTIBULE_DATABASE_PORT": port})
        assert time.monotonic() - begin < 60
    assert (found["severity"], found["subject"]) == ("failure", "VESTIBULE_DATABASE_HOST")


def test_programs_that_take_the_connection_and_say_nothing(doctor):
    with silent_server() as address:
        begin = time.monotonic()
        result = doctor.run({"VESTIBULE_GATEWAY_METRICS_LISTEN": address})
        assert time.monotonic() - begin < 60
    assert result.returncode == 2 and f"failure: VESTIBULE_GATEWAY_METRICS_LISTEN is {address}, where " in result.stdout


# Providers

def test_providers_whose_keys_cannot_be_fetched(own_stack, doctor):
    own = pathlib.Path(doctor.entries["VESTIBULE_IDENTITY_PROVIDERS_FILE"])
    providers = own.read_text()
    assert own_stack.addresses["simulator"] in providers
    # Beside it, since it names files of its folder.
    away = own.with_name("providers-away.json")
    away.write_text(providers.replace(own_stack.addresses["simulator"], "127.0.0.1:9"))
    away.chmod(0o600)
    found = doctor.findings({"VESTIBULE_IDENTITY_PROVIDERS_FILE": str(away)})
    assert {(one["severity"], one["subject"]) for one in found} == {("failure", "VESTIBULE_IDENTITY_PROVIDERS_FILE")}
    assert any("apple: its key set at http://127.0.0.1:9/" in one["problem"] and "can't be fetched" in one["problem"] for one in found), found


def test_no_secret_is_printed(doctor, tmp_path):
    """Its output is pasted in issues."""
    (tmp_path / "key").write_text(SECRET)
    result = doctor.run({
        "VESTIBULE_PROFILE_DATABASE_PASSWORD_FILE": None, "VESTIBULE_PROFILE_DATABASE_PASSWORD": SECRET,
        "VESTIBULE_INVITES_DATABASE_PASSWORD_FILE": str(tmp_path / "key"),
        "VESTIBULE_ADDRESS_KEY_FILE": str(tmp_path / "key"), "VESTIBULE_IDENTITY_KEYS_FOLDER": str(tmp_path),
        "VESTIBULE_GATEWAY_TLS_CERTIFICATE_FILE": str(tmp_path / "key"), "VESTIBULE_GATEWAY_TLS_KEY_FILE": str(tmp_path / "key"),
        "VESTIBULE_GATEWAY_SUPABASE_SERVICE_KEY_FILE": str(tmp_path / "key")}, HTTPS_PROXY=f"http://user:{SECRET}@127.0.0.1:9")
    assert result.returncode == 2
    assert SECRET not in result.stdout + result.stderr, result.stdout


def test_a_program_that_is_not_there(tmp_path):
    result = run_vestibule("doctor", environment={"VESTIBULE_RUN_PROGRAMS": str(tmp_path)})
    assert result.returncode == 2
    assert "failure: identity, profile, invites, gateway can't be asked" in result.stdout and "docker/doctor.sh" in result.stdout


def test_a_program_that_hangs_or_crashes_keeps_no_finding_back(tmp_path):
    for name in MEASURED:
        (tmp_path / name).write_text("#!/bin/sh\nexit 70\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "profile").write_text(
        '#!/bin/sh\necho \'{"mend":"b","problem":"a","severity":"warning","subject":"SETTING"}\'\necho noise\nexec sleep 1000\n')
    begin = time.monotonic()
    result = run_vestibule("doctor", environment={"VESTIBULE_RUN_PROGRAMS": str(tmp_path)}, seconds=100)
    assert time.monotonic() - begin < 80
    assert "warning: SETTING a; b" in result.stdout and "failure: profile took longer than 60 s" in result.stdout
    assert "failure: identity, invites, gateway ended while it examined itself" in result.stdout


@pytest.mark.parametrize("codes, expected", [
    ({}, 0), ({"profile": 1}, 1), ({"profile": 1, "gateway": 2}, 2), ({"status": 1}, 2), ({"identity": 2, "invites": 1}, 2)])
def test_in_containers_each_program_is_asked_in_its_own(tmp_path, codes, expected):
    """The script, with a stand-in for Compose that keeps what it was called with."""
    compose = tmp_path / "compose"
    cases = "".join(f"*' {name} '*) exit {code} ;; " for name, code in codes.items())
    compose.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/calls\ncase " $* " in {cases} *) exit 0 ;; esac\n')
    compose.chmod(0o755)
    result = subprocess.run(
        [ROOT / "docker/doctor.sh"], env={**clean_environment(), "DOCKER_COMPOSE": str(compose), "VESTIBULE_DATABASE_HOST": "db.example.com"},
        capture_output=True, text=True, timeout=60)
    assert result.returncode == expected, (result.stdout, result.stderr)
    assert result.stdout.splitlines() == [f"{name}:" for name in ("identity", "profile", "invites", "gateway")] + ["what runs:"]
    files = "--file compose.yaml --file compose.external-database.yaml run --rm --no-deps -T"
    assert (tmp_path / "calls").read_text().splitlines() == [
        *(f"{files} {name} doctor" for name in ("identity", "profile", "invites", "gateway")), f"{files} status"]


@contextlib.contextmanager
def silent_server():
    """Takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
        kept = []

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    kept.append(listener.accept()[0])

        threading.Thread(target=accept, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        for connection in kept:
            connection.close()
