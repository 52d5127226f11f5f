"""Apple's refresh tokens in identity's vault: kept after sign-ins, sealed under another key while the system runs, and revoked
until the provider has answered."""

import os
import signal

import pytest

import process_table
from app import GOOGLE_CLIENT, App, sha256_hex
from metrics import Metrics
from stack import new_stack, run_vestibule

SECONDS = 30
# Revocation runs each 5 seconds, sealing again each 30.
ROUND_SECONDS = 20
PASS_SECONDS = 60


@pytest.fixture(scope="module")
def own_stack():
    with new_stack(VESTIBULE_LOG_LEVEL="trace") as stack:
        stack.start()
        yield stack
        assert stack.stop() == 0, stack.output
        stack.expect_no_confidences()


def calls(stack, endpoint):
    return stack.simulator.get("/control/counts").expect(200)["apple"][endpoint]


def sql(stack, text):
    return stack.sql(f"SET search_path = identity;\n{text}")


def tokens_of(app, columns="state"):
    return sql(app.stack, f"SELECT {columns} FROM provider_grants WHERE user_id = '{app.user_id}';")


def sign_in(stack):
    """A new user, whose token is kept."""
    app = App(stack)
    app.sign_in()
    process_table.wait_until(lambda: tokens_of(app) == "kept", SECONDS, lambda: f"a token; there is {tokens_of(app)!r}")
    return app


def delete(app):
    # The answer lists no consents, since a token is kept.
    assert app.delete().status == 204


def is_told_the_name(app):
    """Whether Apple treats the person as new, as it does once their consent is gone."""
    app.ask_apple()
    return app.told_user is not None


def wait_until_revoked(app):
    process_table.wait_until(lambda: tokens_of(app) == "", ROUND_SECONDS, lambda: f"an end of {tokens_of(app)!r}")


def rotate(stack, *arguments):
    result = run_vestibule("keys", "rotate", "vault", "--folder", str(stack.folder / "secrets"), *arguments)
    assert result.returncode == 0, result.stderr
    os.kill(stack.process_of("identity"), signal.SIGHUP)
    return result.stdout


def test_a_sign_in_stores_a_sealed_token(own_stack):
    before = calls(own_stack, "token")
    app = sign_in(own_stack)
    assert calls(own_stack, "token") == before + 1
    length, is_new, client = tokens_of(app, "octet_length(sealed_token), checked_at IS NULL, client_id").split("|")
    # Nonce and tag are 28 bytes; the simulator's tokens are longer than forty.
    assert int(length) > 68 and (is_new, client) == ("t", "com.example.app")
    assert tokens_of(app, "position('r' || chr(46) IN encode(sealed_token, 'escape'))") == "0"
    # Signing in again sends another code; there is still one token.
    app.sign_in()
    process_table.wait_until(lambda: calls(own_stack, "token") == before + 2, SECONDS, "the second exchange")
    assert tokens_of(app) == "kept"


def test_a_token_is_revoked_once_the_provider_answers(own_stack):
    app = sign_in(own_stack)
    assert not is_told_the_name(app)
    own_stack.simulator.post("/control/misbehave", {
        "provider": "apple", "endpoint": "revoke", "mode": "error", "status": 503}).expect(200)
    before = calls(own_stack, "revoke")
    delete(app)
    process_table.wait_until(lambda: calls(own_stack, "revoke") == before + 1, ROUND_SECONDS, "the first try")
    assert tokens_of(app) == "revoking"
    own_stack.simulator.post("/control/misbehave", {
        "provider": "apple", "endpoint": "revoke", "mode": "off"}).expect(200)
    # The minute until the next try passes in the database.
    sql(own_stack, "UPDATE provider_grants SET next_at = '-infinity' WHERE state = 'revoking';")
    wait_until_revoked(app)
    assert is_told_the_name(app)


def test_the_vault_key_is_replaced_while_the_system_runs(own_stack):
    first, second = sign_in(own_stack), sign_in(own_stack)
    old = tokens_of(first, "key_id")
    assert " is published" in rotate(own_stack, "--every", "0s")
    assert " is used from now on" in rotate(own_stack, "--at-once")
    metrics = own_stack.metrics_addresses["identity"]

    def is_read():
        return Metrics(metrics).sum("vestibule_identity_own_keys", kind="vault", state="retired") == 1

    process_table.wait_until(is_read, SECONDS, "identity to read its keys")
    between = sign_in(own_stack)
    process_table.wait_until(
        lambda: sql(own_stack, f"SELECT count(*) FROM provider_grants WHERE key_id = '{old}';") == "0", PASS_SECONDS,
        "all to be sealed anew")
    assert len({tokens_of(app, "key_id") for app in (first, second, between)}) == 1
    assert Metrics(metrics).sum("vestibule_identity_provider_tokens_resealed_total") >= 2
    # The resealed token is the one that the provider gave.
    for app in (first, between):
        delete(app)
        wait_until_revoked(app)
        assert is_told_the_name(app)
    assert not is_told_the_name(second)


def kill_identity(stack):
    """Kills identity, and waits until it runs again."""
    before = stack.process_of("identity")
    os.kill(before, signal.SIGKILL)
    stack.wait_for_restart("identity", before)


def test_identity_that_is_killed_while_it_reseals_loses_no_token(own_stack):
    """The kill happens within the transaction: its rows are unchanged, and are sealed again after the start."""
    apps = [sign_in(own_stack) for _ in range(3)]
    old = tokens_of(apps[0], "key_id")
    # A write of a row with another key waits, so that it can be killed.
    sql(own_stack, """
        CREATE FUNCTION wait_for_the_end() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(4); RETURN NULL; END $$;
        CREATE TRIGGER waits AFTER UPDATE OF key_id ON provider_grants
            FOR EACH STATEMENT EXECUTE FUNCTION wait_for_the_end();""")
    try:
        rotate(own_stack, "--every", "0s")
        rotate(own_stack, "--at-once")
        is_waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE '%provider_grants%';"
        process_table.wait_until(lambda: sql(own_stack, is_waiting) != "0", PASS_SECONDS, "sealing to be under way")
        kill_identity(own_stack)
        assert {tokens_of(app, "key_id") for app in apps} == {old}
    finally:
        sql(own_stack, "DROP TRIGGER waits ON provider_grants; DROP FUNCTION wait_for_the_end();")
    process_table.wait_until(
        lambda: sql(own_stack, f"SELECT count(*) FROM provider_grants WHERE key_id = '{old}';") == "0", PASS_SECONDS,
        "all to be sealed anew")
    for app in apps:
        delete(app)
        wait_until_revoked(app)


def test_googles_tokens_are_revoked_as_well(own_stack):
    app = App(own_stack)
    order = {"client_id": GOOGLE_CLIENT, "nonce": sha256_hex("raw nonce"), "person": app.person.simulated}
    answer = own_stack.simulator.post("/control/google/sign-in", order).expect(200)
    own_stack.confidential |= {answer["id_token"], answer["authorization_code"]}
    app.present("google", {
        "id_token": answer["id_token"], "nonce": "raw nonce", "authorization_code": answer["authorization_code"]}).expect(200)
    process_table.wait_until(lambda: tokens_of(app) == "kept", SECONDS, lambda: f"a token; there is {tokens_of(app)!r}")
    before = own_stack.simulator.get("/control/counts").expect(200)["google"]["revoke"]
    delete(app)
    wait_until_revoked(app)
    assert own_stack.simulator.get("/control/counts").expect(200)["google"]["revoke"] == before + 1


def test_identity_that_is_killed_revokes_after_its_restart(own_stack):
    app = sign_in(own_stack)
    own_stack.simulator.post("/control/misbehave", {
        "provider": "apple", "endpoint": "revoke", "mode": "slow", "delay_ms": 60000, "times": 1}).expect(200)
    before = calls(own_stack, "revoke")
    delete(app)
    process_table.wait_until(lambda: calls(own_stack, "revoke") == before + 1, ROUND_SECONDS, "the try")
    kill_identity(own_stack)
    assert tokens_of(app) == "revoking"
    sql(own_stack, "UPDATE provider_grants SET next_at = '-infinity' WHERE state = 'revoking';")
    wait_until_revoked(app)
    assert is_told_the_name(app)


def test_a_user_whom_apple_refuses_is_signed_out(own_stack):
    app, other = sign_in(own_stack), sign_in(own_stack)
    own_stack.simulator.post("/control/misbehave", {
        "provider": "apple", "endpoint": "token", "mode": "error", "status": 400, "error": "invalid_grant", "times": 1,
    }).expect(200)
    # The check is made due in the database, and the session is older.
    sql(own_stack, f"""
        UPDATE provider_grants SET next_at = now() - interval '1 second' WHERE user_id = '{app.user_id}';""")
    process_table.wait_until(lambda: tokens_of(app) == "", SECONDS, "the check")
    assert app.refresh().status == 401
    other.refresh().expect(200)
    reasons = f"SELECT details FROM security_events WHERE kind = 'session_ended' AND user_id = '{app.user_id}';"
    assert '"provider"' in sql(own_stack, reasons)
    app.sign_in()
    app.refresh().expect(200)
