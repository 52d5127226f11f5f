"""Sessions whose rows SQL makes and whose tokens `bench-sessions` mints with the stack's own keys: more than anybody signs in
for a figure."""

import base64
import json
import os
import tempfile

from processes import run
from service_stack import GOOGLE_CLIENT, claims_of

# An app of the local stack whose sessions get no ID token.
PLAIN_CLIENT = f"plain.{GOOGLE_CLIENT}"
NONCE = "\\x00112233445566778899aabbccddeeff"
INSERT_SECONDS_MAX = 600


def insert(stack, count, first=1):
    """Makes the rows of the sessions first, first + 1 …: an account, what Google told, and a session of each, whose first
    tokens are known to have been received."""
    numbers = f"generate_series({first}, {first + count - 1}) AS n"
    identity = "lpad(n::text, 32, '0')::uuid"
    stack.sql(f"""
        SET search_path = identity;
        INSERT INTO accounts (user_id, created_at) SELECT {identity}, now() FROM {numbers};
        INSERT INTO provider_identities (provider, subject, user_id, email, is_email_verified, is_private_email, told_name,
                created_at, last_sign_in_at)
            SELECT 'google', 'bench-' || n, {identity}, n || '@example.com', true, false, 'Load Generator', now(), now()
            FROM {numbers};
        INSERT INTO sessions (session_id, user_id, provider, client_id, opened_account, nonce, proof, created_at, last_used_at,
                expires_at, base, previous, first_child, acknowledged_at)
            SELECT {identity}, {identity}, 'google', '{PLAIN_CLIENT}', true, '{NONCE}', 'fresh', now(), now(),
                now() + interval '30 days', 0, -1, 1, now()
            FROM {numbers};""", timeout_seconds=INSERT_SECONDS_MAX)
    # What autovacuum would do in its own time, in the middle of a run.
    for table in ("accounts", "provider_identities", "sessions"):
        stack.sql(f"VACUUM (ANALYZE) identity.{table}", timeout_seconds=INSERT_SECONDS_MAX)
    stack.sql("CHECKPOINT", timeout_seconds=INSERT_SECONDS_MAX)


def tokens(stack, path, count, first=1, step=1):
    """Writes the tokens of every `step`-th session to a file, and gives its path."""
    claims = claims_of(stack.access_token())
    audience = claims["aud"] if isinstance(claims["aud"], str) else claims["aud"][0]
    with tempfile.TemporaryDirectory() as scratch:
        signing_key, refresh_key = _own_keys(f"{stack.folder}/secrets", scratch)
        text = run([
            f"{stack.binaries}/bench-sessions", f"--signing-key={signing_key}", f"--refresh-key={refresh_key}",
            f"--issuer={claims['iss']}", f"--audience={audience}", f"--client-id={PLAIN_CLIENT}", f"--first={first}",
            f"--count={count}", f"--step={step}"], timeout_seconds=600)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def _own_keys(secrets, scratch):
    """Files with the stack's current signing and refresh key. An older version has them as files already."""
    if not os.path.exists(f"{secrets}/keys"):
        return f"{secrets}/identity-signing-key.pem", f"{secrets}/identity-refresh-key"
    contents = {"signing": str.encode, "refresh": lambda text: base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))}
    for kind, content in contents.items():
        with open(f"{secrets}/keys/{kind}.json", encoding="utf-8") as file:
            key, = [key["key"] for key in json.load(file)["keys"] if key["state"] == "current"]
        with open(f"{scratch}/{kind}", "wb") as file:
            file.write(content(key))
    return f"{scratch}/signing", f"{scratch}/refresh"
