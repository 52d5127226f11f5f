"""Logs tell what happened, and nothing about people."""

import process_table
import tokens
from app import App, Person


def test_logs_hold_nothing_confidential(stack, new_app):
    """Everything that could tempt a program to quote what it was given; then all logs are searched."""
    app, other = new_app(), new_app()
    app.sign_in()
    other.sign_in("google")
    app.complete()
    other.save(phone_number=app.person.phone).problem(409, "PHONE_TAKEN", [("phone_number", "PHONE_TAKEN")])
    bad = Person(digits=f"917{app.person.digits[3:]}9999")
    stack.confidential.add(bad.digits)
    other.save(phone_number=bad.phone).problem(422, "PHONE_INVALID", [("phone_number", "PHONE_INVALID")])
    guest = Person()
    group = app.create_group(f"Party of {guest.family_name}")
    app.invite(guest, group)
    App(stack, guest).sign_in()
    for overrides in (dict(algorithm="none"), dict(signing_key="foreign"), dict(claims={"nonce": guest.email})):
        answer = app.gateway.post("/auth/apple", App(stack, guest).ask_apple(**overrides))
        assert answer.status == 401
    # Where no value belongs.
    for path in (f"/{guest.email}", f"/groups/{guest.digits}/members", f"/me?email={guest.email}"):
        assert app.get(path).status in (200, 404)
    app.gateway.get("/me", token=f"{guest.digits}.{guest.family_name}.x").problem(401, "ACCESS_TOKEN_INVALID")
    app.gateway.send("POST", "/auth/refresh", body=f'{{"refresh_token": "{guest.email}'.encode(), headers={
        "Content-Type": "application/json", "User-Agent": guest.email, "X-Request-Id": guest.email,
    }).problem(400, "JSON_MALFORMED")
    old = app.refresh_token
    app.refresh().expect(200)
    app.refresh().expect(200)
    # After the grace.
    stack.sql(f"""
        UPDATE identity.sessions SET acknowledged_at = acknowledged_at - interval '61 seconds'
        WHERE session_id = '{app.session["session_id"]}';""")
    app.gateway.post("/auth/refresh", {"refresh_token": old}).problem(401, "REFRESH_TOKEN_REUSED")

    marker = "the-end-of-the-story"
    app.gateway.get("/healthz", headers={"X-Request-Id": marker})
    process_table.wait_until(lambda: marker in stack.logs()["gateway.log"], 10, "the last request in the log")
    stack.expect_no_confidences()


def test_a_request_leaves_a_line(stack, app):
    app.get("/groups/11111111-1111-7111-8111-111111111111/members", headers={"X-Request-Id": "needle"}).problem(
        403, "NOT_A_MEMBER")

    def line():
        lines = stack.logs()["gateway.log"].splitlines()
        return [line for line in lines if "needle" in line and " info " in line]

    (found,) = process_table.wait_until(line, 10, "the request's line")
    for fact in ("GET", "/groups/{group_id}/members", "403", "NOT_A_MEMBER"):
        assert fact in found
    # The route as it is declared, without the id.
    assert "11111111" not in found


def test_secrets_are_for_their_owner_only(stack):
    secrets = stack.folder / "secrets"
    assert secrets.stat().st_mode & 0o777 == 0o700
    for folder in ("keys", "profile-keys", "invites-keys"):
        assert (secrets / folder).stat().st_mode & 0o777 == 0o700
    files = {str(file.relative_to(secrets)): file for file in secrets.rglob("*") if file.is_file()}
    for kind in ("signing", "rsa", "refresh", "proof", "vault", "cursor"):
        stack.confidential.add(tokens.own_key(stack, kind).strip().splitlines()[-2 if kind in ("signing", "rsa") else 0])
    assert set(files) == {
        "keys/signing.json", "keys/rsa.json", "keys/refresh.json", "keys/vault.json", "keys/.lock", "address-key", "backup-database-password",
        "identity-database-password",
        "profile-database-password", "invites-database-password", "identity-database-owner-password",
        "profile-database-owner-password", "invites-database-owner-password", "simulator-state.json",
        "apple-key-1.p8", "apple-key-2.p8", "google-client-secret", "facebook-client-secret", "supabase-service-key",
        "keys/proof.json", "profile-keys/proof.json", "invites-keys/proof.json", "keys/cursor.json",
        "invites-keys/cursor.json"}
    for file in files.values():
        assert file.stat().st_mode & 0o777 == 0o600, file
    for name, file in files.items():
        if name.endswith(("-password", "-client-secret", "-service-key")):
            stack.confidential.add(file.read_text())


def test_no_secret_is_readable_for_every_user_of_the_machine(stack):
    """Command lines are readable by all."""
    passwords = [file.read_text() for file in stack.folder.glob("secrets/*-password")]
    for process in process_table.belonging_to(stack.folder):
        words = " ".join(process_table.command_line(process))
        assert not any(password in words for password in passwords)


def test_services_cannot_read_each_others_tables(stack):
    """A role of its own for each service, which owns nothing and has no rights on other schemas."""
    owners = stack.sql("""
        SELECT nspname, pg_get_userbyid(nspowner) FROM pg_namespace
        WHERE nspname IN ('identity', 'profile', 'invites') ORDER BY 1;""")
    assert owners.split() == [f"{name}|vestibule_{name}_owner" for name in ("identity", "invites", "profile")]
    for role in ("identity", "profile", "invites"):
        for schema in ("identity", "profile", "invites"):
            granted = stack.sql(f"SELECT has_schema_privilege('vestibule_{role}', '{schema}', 'usage');")
            assert granted == ("t" if role == schema else "f"), (role, schema)
            made = stack.sql(f"SELECT has_schema_privilege('vestibule_{role}', '{schema}', 'create');")
            assert made == "f", (role, schema)
        elsewhere = stack.sql(f"SELECT has_database_privilege('vestibule_{role}', 'postgres', 'connect');")
        assert elsewhere == "f", role
