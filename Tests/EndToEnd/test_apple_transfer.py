"""Apps move to another developer team at Apple: users keep their accounts, however often the command is killed, and a user
who signs in before it is done finds their account."""

import json
import os
import pathlib
import signal
import subprocess

import pytest

import process_table
import tokens
from app import APPLE_CLIENT, App
from stack import new_stack, program

SECONDS = 30
PEOPLE = 24
OLD_TEAM = "DEVTEAM001"
NEW_TEAM = "NEWTEAM001"


@pytest.fixture(scope="module")
def own_stack():
    with new_stack(VESTIBULE_LOG_LEVEL="trace") as stack:
        stack.start()
        yield stack
        assert stack.stop() == 0, stack.output
        stack.expect_no_confidences()


@pytest.fixture(scope="module")
def people(own_stack):
    apps = []
    for _ in range(PEOPLE):
        app = App(own_stack)
        request = app.ask_apple()
        app.subject = tokens.parts(request["identity_token"])[1]["sub"]
        own_stack.confidential.add(app.subject)
        app.present("apple", request).expect(200)
        apps.append(app)
    kept = "SELECT count(*) FROM identity.provider_grants"
    process_table.wait_until(lambda: own_stack.sql(kept) == str(PEOPLE), SECONDS, "the tokens")
    return apps


def command(stack, *arguments, environment=None):
    """`vestibule apple-transfer` with identity's configuration."""
    return [program("vestibule"), "apple-transfer", *arguments], {
        **process_table.environment(stack.process_of("identity")), **(environment or {})}


def run(stack, *arguments, environment=None):
    words, variables = command(stack, *arguments, environment=environment)
    result = subprocess.run(
        words, env=variables, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    for secret in stack.confidential:
        assert secret not in result.stdout + result.stderr
    return result


def kill_in_the_middle(stack, done, *arguments, environment=None):
    """Starts the command, kills it when `done` reports some users, and returns how many."""
    words, variables = command(stack, *arguments, "--per-second", "4", environment=environment)
    process = subprocess.Popen(
        words, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    try:
        process_table.wait_until(lambda: done() >= 4, SECONDS, "the first answers")
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    finally:
        process.kill()
        process.wait()
    count = done()
    assert 4 <= count < PEOPLE
    return count


@pytest.fixture(scope="module")
def new_team(own_stack, tmp_path_factory):
    """The configuration of the new team, whose key Apple knows."""
    key = subprocess.run(
        ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], capture_output=True, check=True)
    public = subprocess.run(["openssl", "pkey", "-pubout"], input=key.stdout, capture_output=True, check=True)
    own_stack.simulator.post("/control/apple/clients", {
        "client_id": APPLE_CLIENT, "team_id": NEW_TEAM, "key_id": "NEWKEY0001",
        "public_key_pem": public.stdout.decode()}).expect(200)
    environment = process_table.environment(own_stack.process_of("identity"))
    providers = json.loads(pathlib.Path(environment["VESTIBULE_IDENTITY_PROVIDERS_FILE"]).read_text())
    folder = tmp_path_factory.mktemp("new-team")
    (folder / "key.p8").write_bytes(key.stdout)
    apple = next(provider for provider in providers["providers"] if provider["name"] == "apple")
    apple["audiences"] = [
        {**audience, "apple_key": {"team_id": NEW_TEAM, "key_id": "NEWKEY0001", "private_key_file": "key.p8"}}
        for audience in apple["audiences"] if audience["id"] == APPLE_CLIENT]
    (folder / "providers.json").write_text(json.dumps({"providers": [apple]}))
    return {"VESTIBULE_IDENTITY_PROVIDERS_FILE": str(folder / "providers.json")}


def count(stack, condition):
    return int(stack.sql(f"SELECT count(*) FROM identity.apple_transfers WHERE {condition}"))


def test_people_go_to_another_team_and_keep_their_accounts(own_stack, people, new_team):
    dry = run(own_stack, "export", "--to", NEW_TEAM, "--dry-run")
    assert (dry.returncode, dry.stdout) == (
        0, f"{PEOPLE} people would be handed over. Apple accepts the key. Nothing was changed\n"), dry.stderr
    assert run(own_stack, "export", "--to", OLD_TEAM).returncode == 1

    done = kill_in_the_middle(own_stack, lambda: count(own_stack, "true"), "export", "--to", NEW_TEAM)
    # Apple fails for a moment, too.
    own_stack.simulator.post("/control/misbehave", {
        "provider": "apple", "endpoint": "usermigrationinfo", "mode": "error", "status": 429, "times": 3}).expect(200)
    exported = run(own_stack, "export", "--to", NEW_TEAM, "--per-second", "200")
    assert (exported.returncode, exported.stdout) == (
        0, f"{PEOPLE - done} of {PEOPLE - done} people handed over, 0 rejected\n"), exported.stderr
    assert f"{PEOPLE - done} of {PEOPLE - done}" in exported.stderr
    transfers = own_stack.sql("SELECT transfer_sub FROM identity.apple_transfers").splitlines()
    assert len(set(transfers)) == PEOPLE
    own_stack.confidential |= set(transfers)

    own_stack.simulator.post("/control/apple/transfer", {"client_id": APPLE_CLIENT, "to_team": NEW_TEAM}).expect(200)
    # Before any other step, and while identity still has the former team's key.
    early = people[0]
    user_id = early.user_id
    request = early.ask_apple()
    claims = tokens.parts(request["identity_token"])[1]
    assert claims["sub"] != early.subject and claims["transfer_sub"] in transfers
    answer = early.present("apple", request).expect(200)
    assert answer["user_id"] == user_id and not answer["is_new_user"]
    assert count(own_stack, "imported_at IS NOT NULL") == 1

    last = people[-1]
    last.delete()
    kill_in_the_middle(
        own_stack, lambda: count(own_stack, "imported_at IS NOT NULL"), "import", "--from", OLD_TEAM,
        environment=new_team)
    status = run(own_stack, "status")
    assert status.returncode == 0 and f"from {OLD_TEAM} to {NEW_TEAM}: " in status.stdout
    imported = run(own_stack, "import", "--from", OLD_TEAM, "--per-second", "200", environment=new_team)
    assert imported.returncode == 0, imported.stderr
    assert imported.stdout.endswith(" rejected\n")
    assert run(own_stack, "status").stdout == (
        f"{PEOPLE - 1} people of Apple's\nfrom {OLD_TEAM} to {NEW_TEAM}: 0 handed over and not arrived, {PEOPLE - 1} arrived\n")
    assert own_stack.sql("SELECT count(transfer_sub) FROM identity.apple_transfers") == "0"

    # The 60 days are over: only the subject identifies a user.
    own_stack.simulator.post("/control/apple/transfer", {"client_id": APPLE_CLIENT, "is_over": True}).expect(200)
    for app in people[:-1]:
        known = app.user_id
        app.refresh().expect(200)
        request = app.ask_apple()
        claims = tokens.parts(request["identity_token"])[1]
        assert "transfer_sub" not in claims and claims["sub"] != app.subject
        answer = app.present("apple", request).expect(200)
        assert answer["user_id"] == known and not answer["is_new_user"]
    log = own_stack.sql(
        "SELECT count(DISTINCT user_id) FROM identity.security_events WHERE details->>'notice' = 'team_transfer'")
    assert log == str(PEOPLE - 1)
    # A user who was deleted is new.
    assert last.sign_in()["is_new_user"]
