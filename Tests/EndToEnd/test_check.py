"""`vestibule check` and `identity check`: what the configuration of providers comes to, before anything runs."""

import json
import os
import subprocess

import pytest

import process_table
from stack import clean_environment, program, proof_keys

PAGE_IDS = {"apple": "com.example.app", "google": "example.apps.googleusercontent.com"}
SECRET = "hunter2hunter2"


def private_key():
    return subprocess.run(
        ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], capture_output=True,
        check=True).stdout


def check(command=("vestibule", "check"), environment=None, arguments=()):
    return subprocess.run(
        [program(command[0]), *command[1:], *arguments], env={**clean_environment(), **(environment or {})},
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30)


@pytest.fixture
def folder(tmp_path):
    """What identity needs to start, and what a providers file names."""
    (tmp_path / "signing.pem").write_bytes(private_key())
    (tmp_path / "refresh").write_bytes(b"r" * 32)
    proof_keys(tmp_path)
    (tmp_path / "apple.p8").write_bytes(private_key())
    (tmp_path / "secret").write_text(SECRET + "\n")
    return tmp_path


def write(folder, *providers):
    path = folder / "providers.json"
    path.write_text(json.dumps({"providers": providers}))
    return {
        "VESTIBULE_IDENTITY_SIGNING_KEY_FILE": str(folder / "signing.pem"),
        "VESTIBULE_IDENTITY_REFRESH_KEY_FILE": str(folder / "refresh"),
        "VESTIBULE_IDENTITY_KEYS_FOLDER": str(folder / "secrets/keys"),
        "VESTIBULE_IDENTITY_ISSUER": "https://id.acme.org", "VESTIBULE_DATABASE_HOST": "/tmp",
        "VESTIBULE_IDENTITY_DATABASE_PASSWORD": SECRET, "VESTIBULE_IDENTITY_PROVIDERS_FILE": str(path)}


def apple(identifier="com.acme.app", **audience):
    key = {"team_id": "ACME000001", "key_id": "ACMEKEY001", "private_key_file": "apple.p8"}
    return {"name": "apple", "audiences": [{"id": identifier, "apple_key": key, **audience}]}


FACEBOOK = {"name": "facebook", "access_tokens": "facebook", "audiences": [{"id": "24680", "client_secret_file": "secret"}]}


@pytest.mark.parametrize("command", [("vestibule", "check"), ("identity", "check")], ids=" ".join)
def test_it_lists_the_resulting_configuration(command, folder):
    environment = write(folder, apple(nonce="optional", without_nonce="fresh"), FACEBOOK)
    result = check(command, environment)
    assert (result.returncode, result.stderr) == (0, "")
    lines = [line.strip() for line in result.stdout.splitlines()]
    for expected in (
            "apple", "facebook", "audience com.acme.app (native)", "audience 24680 (native)",
            "token          https://appleid.apple.com/auth/token",
            "debug_token    https://graph.facebook.com/debug_token",
            "access tokens  sign in, as proven by access token only",
            "code           signs in by itself too; exchanged with key ACMEKEY001 of team ACME000001",
            "proof          the nonce (sha256); for a token without one, that it is at most 10 minutes old and was not used",
            "the configuration of identity: providers in order 2, audiences 2, faults 0"):
        assert expected in lines, result.stdout
    assert any(line.startswith("leaves open    another backend of this audience could") for line in lines)
    assert SECRET not in result.stdout and "PRIVATE KEY" not in result.stdout


def test_it_says_what_open_groups_give_away(folder):
    """While nobody proves numbers. The openness is invites' configuration, and looked at where it can be seen."""
    environment = write(folder, apple())

    def hints(**more):
        result = check(environment={**environment, **more})
        assert (result.returncode, result.stderr) == (0, "")
        return [line for line in result.stdout.splitlines() if line.startswith("hint: VESTIBULE_IDENTITY_PHONE_ASSERTIONS_FILE ")]

    (told,) = hints(VESTIBULE_INVITES_OPENNESS="open")
    assert "new groups are open: a stranger who types a number that a group awaits is a member at once" in told
    (told,) = hints()
    assert "with VESTIBULE_INVITES_OPENNESS=open a stranger" in told
    for openness in ("confirm", "consent"):
        assert hints(VESTIBULE_INVITES_OPENNESS=openness) == hints(VESTIBULE_INVITES_GROUP_OPENNESS=openness) == []


def test_it_says_for_which_domain_passkeys_are(folder):
    environment = write(folder, apple())
    assert "passkeys" not in check(environment=environment).stdout
    passkeys = {"VESTIBULE_IDENTITY_PASSKEY_RP_ID": "acme.org", "VESTIBULE_IDENTITY_PASSKEY_ORIGINS": "https://app.acme.org,https://acme.org"}
    result = check(environment=environment | passkeys)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    place = lines.index("passkeys for acme.org, with verification of the user")
    assert lines[place + 1] == "  from https://app.acme.org, https://acme.org"
    assert lines[place + 2] == "  from every authenticator"
    assert "don't change it" in lines[place + 3]


def test_it_reports_all_errors_together(folder):
    environment = write(
        folder, apple(kind="bundle", nonce="required", without_nonce="code"), {**FACEBOOK, "client_secret": SECRET},
        {"name": "keycloak", "issuers": ["https://kc.acme.org"], "keys_url": "http://kc.acme.org/certs",
         "audiences": [{"id": "app", "client_secret_file": "none"}]})
    result = check(environment={**environment, "VESTIBULE_IDENTITY_LISTEN": "nowhere"})
    assert result.returncode == 1
    lines = result.stderr.splitlines()
    for expected in (
            "VESTIBULE_IDENTITY_LISTEN must be an address",
            'provider "apple", audience "com.acme.app": "kind" must be one of native, services, web',
            'provider "apple", audience "com.acme.app": "without_nonce" code contradicts "nonce" required',
            'provider "facebook": has an unknown member "client_secret"',
            'provider "keycloak": "keys_url" must be an https URL',
            f'provider "keycloak", audience "app": "client_secret_file" names the file {folder}/none, which cannot be opened'):
        assert sum(expected in line for line in lines) == 1, result.stderr
    assert len(lines) == 6 and all(line.startswith("identity check: ") for line in lines)
    assert SECRET not in result.stdout + result.stderr


def test_what_it_finds_keeps_identity_from_starting(folder):
    """The same faults, word for word."""
    environment = write(folder, apple(without_nonce="fresh"), {"name": "google", "audiences": ["a b"]})
    checked, served = check(environment=environment), check(("identity", "serve"), environment)
    assert (checked.returncode, served.returncode) == (1, 78)
    told = [line.removeprefix("identity check: ") for line in checked.stderr.splitlines()]
    assert told == [line.removeprefix("identity: ") for line in served.stderr.splitlines()] and len(told) == 2


def test_a_file_is_checked_alone(folder):
    write(folder, apple(), {"name": "google", "nonce_required": True, "audiences": ["web.acme"]})
    # Where it is called from doesn't matter: names are relative to the file.
    result = check(arguments=["--providers", str(folder / "providers.json")])
    assert (result.returncode, result.stderr) == (0, "")
    hints = [line for line in result.stdout.splitlines() if line.startswith("hint: ")]
    assert len(hints) == 2 and "nonce_required" in hints[0] and "plain texts" in hints[1]
    os.remove(folder / "apple.p8")
    assert check(arguments=["--providers", str(folder / "providers.json")]).returncode == 1


def test_a_configuration_file_counts(folder):
    environment = write(folder, apple())
    file = folder / "vestibule.conf"
    file.write_text("".join(f"{name}={value}\n" for name, value in environment.items()))
    assert check(arguments=["--config", str(file)]).returncode == 0
    file.write_text(file.read_text() + "VESTIBULE_IDENTITY_ISSUERS=x\n")
    result = check(arguments=["--config", str(file)])
    assert result.returncode == 1 and "did you mean VESTIBULE_IDENTITY_ISSUER?" in result.stderr


@pytest.mark.parametrize("provider", PAGE_IDS)
def test_no_placeholder_is_ever_live(folder, provider):
    """By the file, and by the short variable; only the development switch lets one pass."""
    identifier = PAGE_IDS[provider]
    by_file = write(folder, {"name": provider, "audiences": [{"id": identifier}]})
    by_variable = {**by_file, f"VESTIBULE_IDENTITY_{provider.upper()}_AUDIENCES": identifier}
    del by_variable["VESTIBULE_IDENTITY_PROVIDERS_FILE"]
    for environment in (by_file, by_variable):
        result = check(environment=environment)
        assert result.returncode == 1 and "is a placeholder out of an example" in result.stderr
        assert check(("identity", "serve"), environment).returncode == 78
        for switch in ("VESTIBULE_IDENTITY_SIMULATED_PROVIDERS", "VESTIBULE_IDENTITY_KEYS_BY_HTTP"):
            result = check(environment={**environment, switch: "true"})
            assert (result.returncode, result.stderr) == (0, "")
        assert "hint: VESTIBULE_IDENTITY_KEYS_BY_HTTP is a former name" in result.stdout


def test_the_stack_passes(stack):
    """What `vestibule run` gives identity is in order, and tells no secret."""
    environment = process_table.environment(stack.process_of("identity"))
    result = check(environment=environment)
    assert (result.returncode, result.stderr) == (0, "")
    assert PAGE_IDS["apple"] in result.stdout and PAGE_IDS["google"] in result.stdout


def test_help():
    for command in (("vestibule", "check"), ("identity", "check")):
        result = check(command, arguments=["--help"])
        assert result.returncode == 0 and "--providers" in result.stdout and "never a secret" in " ".join(
            result.stdout.split())


def test_vestibule_without_identity(tmp_path):
    """Its image has no other program."""
    result = check(environment={"VESTIBULE_RUN_PROGRAMS": str(tmp_path)})
    assert result.returncode == 1 and result.stdout == ""
    assert f"{tmp_path}/identity cannot be started" in result.stderr and "identity check" in result.stderr
