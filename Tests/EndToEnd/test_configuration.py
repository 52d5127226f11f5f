"""Configuration: `--help` lists every key, all errors are reported together, and secrets never."""

import json
import pathlib
import re
import subprocess

import pytest

import process_table
from stack import MEASURED, clean_environment, free_ports, program, proof_keys, run_vestibule

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOG = {"LOG_LEVEL", "LOG_FORMAT", "LOG_OUTPUT"}
ADDRESSES = {"IDENTITY_ADDRESS", "PROFILE_ADDRESS", "INVITES_ADDRESS"}
PHONE = {"PHONE_REGION", "PHONE_KINDS", "PHONE_REGIONS"}


def service_keys(name, *own):
    of_every_service = {
        "LISTEN", "INSECURE", "METRICS_LISTEN", "DATABASE_USER", "DATABASE_PASSWORD", "DATABASE_OWNER",
        "DATABASE_OWNER_PASSWORD", "DATABASE_SCHEMA", "DATABASE_CONNECTIONS", "DATABASE_TIMEOUT", "DATABASE_LOCK_TIMEOUT",
        "MIGRATE", "TLS_CERTIFICATE_FILE", "TLS_KEY_FILE", "TLS_NAME", "TLS_CLIENT_CA_FILE",
        "TLS_CLIENT_CERTIFICATE_FILE", "TLS_CLIENT_KEY_FILE", "TLS_ALLOW", "SERVER_NAMES", "CONNECT", "ORIGINS"}
    shared = {
        "DATABASE_HOST", "DATABASE_PORT", "DATABASE_NAME", "DATABASE_ENGINE", "DATABASE_INJECTED_CONFLICTS", "DATABASE_POOLER", "DATABASE_DIRECT_HOST", "DATABASE_DIRECT_PORT", "DATABASE_TLS", "DATABASE_CA_FILE", "EVENT_LOOPS",
        "CONNECTIONS_MAX", "CONNECTIONS_PER_ADDRESS_MAX", "IDLE_LIMIT", "HELD_BYTES_MAX", "DRAIN_LIMIT", "LOG_CALLS",
        "CRASHES_FOLDER", "REFLECTION", "SERVICES_CA_FILE"}
    return {f"{name}_{key}" for key in of_every_service | set(own)} | shared | LOG


KEYS = {
    ("identity",): service_keys(
        "IDENTITY", "ISSUER", "AUDIENCE", "KEYS_FOLDER", "SIGNING_KEY_FILE", "SIGNING_KEY_OTHER_FILE", "REFRESH_KEY_FILE",
        "REFRESH_KEY_OTHER_FILE", "ACCESS_TOKEN_LIFETIME", "SINGLE_TOKEN_LIFETIME", "REFRESH_GRACE", "GATEWAYS", "OPERATORS", "OPERATOR_CONSOLES",
        "SESSION_INACTIVITY", "SESSION_LIFETIME", "SESSIONS_MAX", "RECENT_SIGN_IN", "DELETION_DELAY", "AUDIT_RETENTION", "WEBHOOKS_FILE",
        "PHONE_ASSERTIONS_FILE", "CLIENTS_FILE",
        "GUESTS", "GUEST_INACTIVITY", "GUEST_WORK_BITS", "GUESTS_PER_ADDRESS", "GUESTS_PER_HOUR",
        "PASSKEY_RP_ID", "PASSKEY_RP_NAME", "PASSKEY_ORIGINS", "PASSKEY_USER_VERIFICATION",
        "PASSKEY_METADATA_FILE", "PASSKEY_METADATA_ROOTS_FILE",
        "PROVIDER_CHECKS_PER_SECOND", "PROVIDER_REFUSALS_PERCENT_MAX", "UNPROVEN_LOGINS", "PROVIDERS", "PROVIDERS_FILE",
        "APPLE_AUDIENCES",
        "APPLE_KEYS_URL", "APPLE_TEAM_ID", "APPLE_KEY_ID", "APPLE_PRIVATE_KEY_FILE", "GOOGLE_AUDIENCES", "GOOGLE_KEYS_URL",
        "SIMULATED_PROVIDERS", "NAMES_AUDIENCES") | PHONE | {"PROFILE_ADDRESS", "INVITES_ADDRESS"},
    ("profile",): service_keys("PROFILE", "PHONE_TRIES", "PHONE_TRIES_WINDOW", "PHONE_CLAIMS", "ADDRESS_PHONE_TRIES",
        "ADDRESS_PHONE_CLAIMS", "PHONE_COOL_DOWN", "PROVEN_PHONE_IDLE", "USERNAME_CHECKS", "ADDRESS_USERNAME_CHECKS",
        "AVATAR_UPLOADS", "AVATAR_BYTES", "RESERVED_USERNAMES", "REQUIRED_FIELDS", "KEYS_FOLDER") | PHONE | {
        "IDENTITY_ADDRESS", "INVITES_ADDRESS", "ADDRESS_KEY_FILE"},
    ("invites",): service_keys("INVITES", "GROUP_MEMBERS", "INBOX_RETENTION", "IDEMPOTENCY_RETENTION", "CHANGES_RETENTION", "USER_ADDS",
        "ADDRESS_ADDS", "USER_GROUPS", "USER_GROUPS_MAX", "USER_MEMBERSHIPS", "USER_GROUP_CHANGES", "USER_PENDING", "USER_NUMBERS", "OPENNESS",
        "USER_LINKS", "USER_LINK_TRIES", "ADDRESS_LINK_TRIES", "PENDING_LIFETIME", "KEYS_FOLDER") | PHONE | {
        "IDENTITY_ADDRESS", "ADDRESS_KEY_FILE"},
    ("gateway",): ADDRESSES | LOG | {"PROFILE_AVATAR_BYTES", "EVENT_LOOPS", "DRAIN_LIMIT", "SERVICES_CA_FILE", "CRASHES_FOLDER", "REFLECTION"} | {
        f"GATEWAY_{key}" for key in (
        "LISTEN", "METRICS_LISTEN", "REQUEST_TIMEOUT", "BODY_BYTES_MAX", "CONNECTIONS_MAX", "IDLE_TIMEOUT",
        "AUTH_PER_SECOND", "AUTH_BURST", "ADDRESS_PER_SECOND", "ADDRESS_BURST", "ACCOUNT_PER_SECOND", "ACCOUNT_BURST",
        "CHANGES_PER_SECOND", "CHANGES_BURST", "CHECK", "DPOP_NONCE", "OUTAGE_GRACE", "WATCHES", "WATCHES_PER_ACCOUNT", "TRUSTED_PROXIES", "STRICT_TRANSPORT", "TLS_CLIENT_CERTIFICATE_FILE",
        "TLS_CLIENT_KEY_FILE", "PUBLIC_URL", "APP_URLS", "ORIGINS", "APPLE_WITHOUT_STATE", "METHODS_PAGE", "SIMULATOR_URL", "SIGN_IN_PAGES", "LANGUAGES_FOLDER", "SUPPORT_URL", "DIALECTS",
        "APPLE_APPS", "ANDROID_APPS", "RELATED_ORIGINS",
        "SUPABASE_SERVICE_KEY_FILE", "INTROSPECTION_CLIENTS_FILE", "DRAIN_DELAY", "PROXY_PROTOCOL", "TLS_CERTIFICATE_FILE", "TLS_KEY_FILE",
        "TLS_CLIENT_CA_FILE", "TLS_NAME", "TLS_CA_FILE")},
    ("simulator",): LOG | {"DRAIN_LIMIT", "SIMULATOR_CLIENTS_FILE", "SIMULATOR_LISTEN", "SIMULATOR_ORIGINS", "SIMULATOR_STATE_FILE"},
    ("vestibule", "console"): LOG | {"IDENTITY_ADDRESS", "DRAIN_LIMIT", "SERVICES_CA_FILE"} | {
        f"{name.upper()}_METRICS_LISTEN" for name in MEASURED} | {
        f"CONSOLE_{key}" for key in (
        "LISTEN", "PUBLIC_URL", "OPERATORS_FILE", "ISSUER", "DISCOVERY_URL", "CLIENT_ID", "CLIENT_SECRET_FILE", "AUTH_TIME_OPTIONAL", "FRESH",
        "SESSION_LIFETIME", "SESSION_INACTIVITY", "TLS_CERTIFICATE_FILE", "TLS_KEY_FILE", "TLS_CLIENT_CA_FILE", "TLS_NAME",
        "TLS_CA_FILE", "TLS_CLIENT_CERTIFICATE_FILE", "TLS_CLIENT_KEY_FILE")},
    ("vestibule",): {"RUN_FOLDER", "RUN_PROGRAMS", "RUN_READY_LIMIT"} | {
        f"{name}_LISTEN" for name in ("GATEWAY", "SIMULATOR", "IDENTITY", "PROFILE", "INVITES")},
}
# Kinds of values that a meaningless text can't be.
CHECKED_KIND = re.compile(r"host:port|URL|duration|(?:one|any) of|true or false|networks|-?\d+ to \d+|path of a secret")
NONSENSE = "\t?\t"
SIGNING_KEY = subprocess.run(
    ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], capture_output=True,
    check=True).stdout


def run(command, environment=None, seconds=30):
    return subprocess.run(
        [program(command[0]), *command[1:]], env={**clean_environment(), **(environment or {})}, capture_output=True,
        text=True, stdin=subprocess.DEVNULL, timeout=seconds)


def told_keys(text):
    """The keys that a help text lists, with kind and default."""
    # Long lines are wrapped for the terminal.
    text = " ".join(text.split())
    entries = re.findall(r"VESTIBULE_(\w+)(?: or VESTIBULE_\w+)? \(([^()]*); ([^()]*)\)", text)
    return {name: (kind, default) for name, kind, default in entries}


def serving(command):
    """The command line that reads these keys and serves."""
    return ("vestibule", "run") if command == ("vestibule",) else (*command, "serve")


@pytest.mark.parametrize("command", KEYS, ids=" ".join)
def test_help_lists_every_key(command):
    result = run((*command, "--help"))
    assert result.returncode == 0 and result.stderr == ""
    told = told_keys(result.stdout)
    assert set(told) == KEYS[command]
    for kind, default in told.values():
        assert kind and re.match(r"default .|required$|optional$", default)


@pytest.mark.parametrize("name", ["vestibule", "identity", "profile", "invites", "gateway", "simulator"])
def test_each_program_has_a_version(name):
    result = run((name, "--version"))
    assert result.returncode == 0 and result.stderr == ""
    version, mode = re.fullmatch(rf"{name} (\S+) \((debug|release)\)\n", result.stdout).groups()
    assert version == "unreleased" or f"## {version} - " in (ROOT / "CHANGELOG.md").read_text(), (version, mode)


@pytest.mark.parametrize("command", KEYS, ids=" ".join)
def test_errors_are_reported_together(command, tmp_path):
    told = told_keys(run((*command, "--help")).stdout)
    wrong = {f"VESTIBULE_{name}": NONSENSE for name, (kind, _) in told.items() if CHECKED_KIND.match(kind)}
    assert wrong
    result = run(serving(command), {"VESTIBULE_RUN_FOLDER": str(tmp_path / "data"), **wrong})
    assert result.returncode == 78, result.stderr  # EX_CONFIG of <sysexits.h>
    faulty = re.findall(r"^\w+: (VESTIBULE_\w+) ", result.stderr, re.MULTILINE)
    assert sorted(faulty) == sorted(wrong), result.stderr
    # Each in one line.
    assert len(result.stderr.splitlines()) == len(wrong)


@pytest.mark.parametrize("command", [("identity",), ("profile",), ("invites",)], ids=" ".join)
def test_faults_in_a_file(command, tmp_path):
    file = tmp_path / "vestibule.conf"
    prefix = f"VESTIBULE_{command[0].upper()}"
    file.write_text(
        f"# A comment\n\nVESTIBULE_GATEWAY_LISTEN=127.0.0.1:1\nVESTIBULE_DATABASE_PORT = many\n{prefix}_NO_SUCH_KEY=1\n"
        f"{prefix}_DATABASE_PASSWORD=hunter2hunter2\n{prefix}_DATABASE_PASSWORD_FILE={tmp_path}/none\n"
        f"{prefix}_MIGRATE='maybe'\n{prefix}_MIGRATE=yes\nno equals sign here hunter2hunter2\n")
    result = run((*command, "serve", "--config", str(file)))
    assert result.returncode == 78
    for expected in (
            "VESTIBULE_DATABASE_PORT must be", f"{prefix}_NO_SUCH_KEY is in the file, but there is no such key",
            f"{prefix}_DATABASE_PASSWORD is given twice", f"{prefix}_MIGRATE is given twice in",
            f"{prefix}_MIGRATE must be true or false", "line 10 is not KEY=VALUE"):
        assert expected in result.stderr, result.stderr
    assert "hunter2" not in result.stdout + result.stderr
    assert "GATEWAY_LISTEN" not in result.stderr, "the key of another program is its own business"


def test_a_misspelt_variable_is_reported():
    result = run(("vestibule", "roles"), {
        "VESTIBULE_ROLES_OWNRE": "hunter2", "VESTIBULE_ROLES_SERVICE_HOST": "10.0.0.1", "VESTIBULE_IDENTITY_LISTEN": "x"})
    assert result.returncode == 78  # The passwords are missing, which comes after.
    first, *others = result.stderr.splitlines()
    assert first == (
        "roles: warning: VESTIBULE_ROLES_OWNRE is in the environment, but there is no such key; "
        "did you mean VESTIBULE_ROLES_OWNER?")
    assert all("is required" in line for line in others)


def test_variables_of_the_containers_are_no_misspelt_ones():
    """An environment that has the settings of Compose, too, causes no warnings."""
    files = [*(ROOT / "docker").glob("*.yaml"), *(ROOT / "docker").glob("*.sh")]
    names = {name for file in files for name in re.findall(r"\$\{?(VESTIBULE_\w+)", file.read_text())}
    assert len(names) > 60
    result = run(("vestibule", "status"), {**{name: "127.0.0.1:9" for name in names}, "VESTIBULE_GATEWAY_METRICS_LISTEN": "127.0.0.1:9"})
    assert result.returncode == 1 and "gateway at 127.0.0.1:9 does not answer" in result.stdout
    assert result.stderr == ""
    misspelt = run(("vestibule", "status"), {"VESTIBULE_PUBLIHS": "x", "VESTIBULE_GATEWAY_METRICS_LISTEN": "127.0.0.1:9"})
    assert misspelt.stderr.startswith("status: warning: VESTIBULE_PUBLIHS is in the environment, but there is no such key")


def test_an_exposed_service_without_authentication_does_not_start(stack):
    environment = process_table.environment(stack.process_of("profile")) | {
        "VESTIBULE_PROFILE_LISTEN": "0.0.0.0:0", "VESTIBULE_LOG_LEVEL": "error"}
    environment.pop("VESTIBULE_PROFILE_METRICS_LISTEN", None)
    result = run(("profile", "serve"), environment)
    assert result.returncode == 78
    (line,) = result.stderr.splitlines()
    assert line.startswith("profile: VESTIBULE_PROFILE_LISTEN is not on loopback, and so needs VESTIBULE_PROFILE_TLS_")


@pytest.mark.parametrize("service", ["profile", "invites"])
def test_a_former_name_that_contradicts_the_new_one(service):
    former = f"VESTIBULE_{service.upper()}_PHONE_REGION"
    result = run((service, "serve"), {"VESTIBULE_PHONE_REGION": "PH", former: "DE"})
    assert result.returncode == 78
    assert f"{service}: VESTIBULE_PHONE_REGION is given as VESTIBULE_PHONE_REGION and as {former}, with different values" in (
        result.stderr.splitlines())


def test_a_missing_file(tmp_path):
    result = run(("profile", "serve", "--config", str(tmp_path / "none.conf")))
    assert (result.returncode, len(result.stderr.splitlines())) == (78, 1)
    assert "none.conf" in result.stderr


def test_faults_inside_secrets_show_no_secret(tmp_path):
    (tmp_path / "key.pem").write_text("-----BEGIN PRIVATE KEY-----\nhunter2hunter2\n-----END PRIVATE KEY-----\n")
    (tmp_path / "refresh").write_bytes(b"hunter2hunter2")
    keys = tmp_path / "keys"
    keys.mkdir()
    key = {"id": "a", "state": "current", "since": 1, "key": "hunter2hunter2"}
    (keys / "proof.json").write_text(json.dumps({"format": 1, "kind": "proof", "keys": [key]}))
    (tmp_path / "providers").write_text('{"providers": [{"name": "hunter2-hunter2", "hunter2": 1}]')
    result = run(("identity", "serve"), {
        "VESTIBULE_IDENTITY_SIGNING_KEY_FILE": str(tmp_path / "key.pem"),
        "VESTIBULE_IDENTITY_REFRESH_KEY_FILE": str(tmp_path / "refresh"),
        "VESTIBULE_IDENTITY_KEYS_FOLDER": str(keys),
        "VESTIBULE_IDENTITY_PROVIDERS_FILE": str(tmp_path / "providers"),
        "VESTIBULE_IDENTITY_APPLE_AUDIENCES": "com.example.app",
        "VESTIBULE_IDENTITY_APPLE_KEYS_URL": "http://keys.example.com/over-no-tls"})
    assert result.returncode == 78
    for key in ("SIGNING_KEY_FILE", "REFRESH_KEY_FILE", "KEYS_FOLDER", "PROVIDERS_FILE", "APPLE_KEYS_URL"):
        assert f"VESTIBULE_IDENTITY_{key} " in result.stderr, result.stderr
    assert "hunter2hunter2" not in result.stdout + result.stderr


def test_identity_lists_what_a_deployment_must_set(tmp_path):
    """There are no defaults; empty values, as compose passes them, count as missing."""
    for name, content in {
            "key.pem": SIGNING_KEY, "refresh": b"r" * 32, "other.pem": b"", "other": b""}.items():
        (tmp_path / name).write_bytes(content)
    result = run(("identity", "serve"), {
        "VESTIBULE_IDENTITY_SIGNING_KEY_FILE": str(tmp_path / "key.pem"),
        "VESTIBULE_IDENTITY_SIGNING_KEY_OTHER_FILE": str(tmp_path / "other.pem"),
        "VESTIBULE_IDENTITY_REFRESH_KEY_FILE": str(tmp_path / "refresh"),
        "VESTIBULE_IDENTITY_REFRESH_KEY_OTHER_FILE": str(tmp_path / "other"),
        "VESTIBULE_IDENTITY_KEYS_FOLDER": str(proof_keys(tmp_path)),
        "VESTIBULE_IDENTITY_ISSUER": "", "VESTIBULE_IDENTITY_APPLE_AUDIENCES": "",
        "VESTIBULE_IDENTITY_GOOGLE_AUDIENCES": ""})
    assert result.returncode == 78
    issuer, providers = result.stderr.splitlines()
    assert "VESTIBULE_IDENTITY_ISSUER is required" in issuer and "such as https://" in issuer
    assert "VESTIBULE_IDENTITY_APPLE_AUDIENCES or VESTIBULE_IDENTITY_GOOGLE_AUDIENCES" in providers


def test_invites_requires_the_openness_in_a_deployment(tmp_path):
    """No default suits all deployments; an empty value, as compose passes it, counts as missing. Reported with all other errors."""
    assert run_vestibule("init", "--folder", str(tmp_path / "secrets")).returncode == 0
    environment = {
        "VESTIBULE_INVITES_KEYS_FOLDER": str(tmp_path / "secrets/invites-keys"),
        "VESTIBULE_ADDRESS_KEY_FILE": str(tmp_path / "secrets/address-key"), "VESTIBULE_PHONE_REGION": "Atlantis"}
    for given in ({}, {"VESTIBULE_INVITES_OPENNESS": ""}):
        result = run(("invites", "serve"), {**environment, **given})
        assert result.returncode == 78
        region, openness = result.stderr.splitlines()
        assert "VESTIBULE_PHONE_REGION" in region
        assert openness.startswith("invites: VESTIBULE_INVITES_OPENNESS is required: open, confirm or consent, such as ")
    for name in ("OPENNESS", "GROUP_OPENNESS"):
        result = run(("invites", "serve"), {**environment, f"VESTIBULE_INVITES_{name}": "confirm"})
        assert "is required" not in result.stderr and len([line for line in result.stderr.splitlines() if "Atlantis" in line]) == 1


@pytest.mark.parametrize("service, made", [("identity", "keys"), ("profile", "profile-keys"), ("invites", "invites-keys")])
def test_missing_keys_are_reported_with_the_command_that_makes_them(tmp_path, service, made):
    """No service starts without keys to verify proofs, nor with another's keys."""
    name = f"VESTIBULE_{service.upper()}_KEYS_FOLDER"
    (tmp_path / "address-key").write_bytes(b"a" * 32)
    # These settings are invalid in any case, so that no service starts.
    others = {} if service == "identity" else {
        "VESTIBULE_ADDRESS_KEY_FILE": str(tmp_path / "address-key"), "VESTIBULE_PHONE_REGION": "Atlantis"}

    def told(folder):
        result = run((service, "serve"), {name: str(folder), **others})
        assert result.returncode == 78
        return [line for line in result.stderr.splitlines() if name in line]

    assert told("") == [f"{service}: {name} is required: the folder {made} of those that `vestibule init` makes"]
    missing = f"{tmp_path}/proof.json is not there; `vestibule init` makes it"
    assert told(tmp_path) == [f"{service}: {name} names a folder in which {missing}"]
    assert run_vestibule("init", "--folder", str(tmp_path / "secrets")).returncode == 0
    whose = "identity itself" if service == "identity" else service
    for folder in {"keys", "profile-keys", "invites-keys"} - {made}:
        other, = told(tmp_path / "secrets" / folder)
        assert other.endswith(f"holds other keys than those of {whose}")
    assert told(tmp_path / "secrets" / made) == []


@pytest.mark.parametrize("service", ["identity", "profile", "invites"])
def test_the_gateway_may_call_only_what_its_routes_use(service):
    """The gateway is the program that strangers can reach."""
    sources = "".join(file.read_text() for file in (ROOT / "Sources/GatewayService").rglob("*.swift"))
    used = {name[0].upper() + name[1:] for name in re.findall(rf"\b{service}\.(\w+)\(", sources)}
    compose = (ROOT / "docker/compose.yaml").read_text()
    allowed = set(re.findall(rf"spiffe://vestibule/gateway vestibule\.{service}\.v1\.\w+/(\w+)", compose))
    assert used and allowed == used


def test_unknown_arguments():
    for command in KEYS:
        result = run((*command, "--no-such-option"))
        assert result.returncode == 64 and "--no-such-option" in result.stderr  # EX_USAGE


def test_a_wrong_password_is_not_shown(stack):
    environment = process_table.environment(stack.process_of("identity"))
    environment |= {"VESTIBULE_IDENTITY_DATABASE_PASSWORD": "hunter2hunter2"}
    environment.pop("VESTIBULE_IDENTITY_DATABASE_PASSWORD_FILE")
    result = run(("identity", "migrate"), environment)
    assert result.returncode == 1
    assert "password authentication failed" in result.stderr
    assert "hunter2" not in result.stdout + result.stderr


@pytest.mark.parametrize("name", ["simulator", "identity", "profile", "invites", "gateway"])
def test_healthcheck(stack, name):
    environment = process_table.environment(stack.process_of(name))
    good = run((name, "healthcheck"), environment)
    assert (good.returncode, good.stderr) == (0, "")
    (port,) = free_ports(1)
    bad = run((name, "healthcheck"), environment | {f"VESTIBULE_{name.upper()}_LISTEN": f"127.0.0.1:{port}"})
    assert bad.returncode == 1 and len(bad.stderr.splitlines()) == 1 and str(port) in bad.stderr


@pytest.mark.parametrize("name", ["simulator", "identity", "profile", "invites", "gateway"])
def test_a_port_that_is_in_use(stack, name):
    """Each program reports it in one line and exits."""
    environment = process_table.environment(stack.process_of(name)) | {"VESTIBULE_LOG_LEVEL": "error"}
    environment.pop("VESTIBULE_SIMULATOR_STATE_FILE", None)
    environment.pop(f"VESTIBULE_{name.upper()}_METRICS_LISTEN", None)
    result = run((name, "serve"), environment)
    assert result.returncode == 1, result.stderr
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"{name}: cannot listen on {stack.addresses[name]}: it is in use by {name} (pid ")
    assert line.endswith(f"). VESTIBULE_{name.upper()}_LISTEN names another address")


@pytest.mark.parametrize("name", MEASURED)
def test_a_metrics_port_that_is_in_use(stack, name):
    environment = process_table.environment(stack.process_of(name)) | {
        "VESTIBULE_LOG_LEVEL": "error", f"VESTIBULE_{name.upper()}_LISTEN": "127.0.0.1:0"}
    result = run((name, "serve"), environment)
    assert result.returncode == 1, result.stderr
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"{name}: metrics cannot be served on {stack.metrics_addresses[name]}: it is in use by {name} (pid ")
    assert line.endswith(f"). VESTIBULE_{name.upper()}_METRICS_LISTEN names another address")
    stack.gateway.get("/readyz").expect(200)
