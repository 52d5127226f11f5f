"""Accounts that a database has before its upgrade: each with a Google identity, a session and a profile, and each tenth with a group of ten.

They are written by SQL into the tables of 0.9.0, with ids that count from 1, and are nobody's phone numbers.
"""

# Groups have this many members.
GROUP_SIZE = 10
_ID = "lpad(({})::text, 32, '0')::uuid"


def fill(stack, count):
    """Writes `count` accounts, and has PostgreSQL count the rows."""
    numbers = f"generate_series(1, {count}) AS n"
    user, owner = _ID.format("n"), _ID.format(f"n - (n - 1) % {GROUP_SIZE}")
    # Without triggers: they would have a webhook delivered for each.
    stack.sql(f"""
        SET session_replication_role = replica;
        INSERT INTO identity.accounts (user_id, created_at) SELECT {user}, now() FROM {numbers};
        INSERT INTO identity.provider_identities
            (provider, subject, user_id, email, is_email_verified, is_private_email, told_name, created_at, last_sign_in_at)
            SELECT 'google', 'made-up-' || n, {user}, n || '@example.com', true, false, 'Made Up', now(), now() FROM {numbers};
        INSERT INTO identity.sessions (session_id, user_id, provider, client_id, opened_account, nonce, proof, created_at, last_used_at,
                expires_at, base, previous, first_child, acknowledged_at)
            SELECT {user}, {user}, 'google', 'example.apps.googleusercontent.com', true, decode(md5(n::text), 'hex'), 'fresh', now(), now(),
                now() + interval '30 days', 0, -1, 1, now() FROM {numbers};
        INSERT INTO identity.security_events (event_id, user_id, session_id, kind, occurred_at, details)
            SELECT identity.security_event_id(now(), false), {user}, {user}, 'signed_in', now(), '{{"provider": "google"}}' FROM {numbers};
        INSERT INTO profile.profiles (user_id, display_name, username, updated_at, revision)
            SELECT {user}, 'Made Up ' || n, 'made_up_' || n, now(), 1 FROM {numbers};
        INSERT INTO profile.usernames SELECT 'made_up_' || n, {user}, now() FROM {numbers};
        INSERT INTO invites.groups SELECT {user}, 'Group ' || n, {user}, now(), 'open', {user} FROM {numbers} WHERE n % {GROUP_SIZE} = 1;
        INSERT INTO invites.members (group_id, member_id, user_id, added_by, added_at, linked_at)
            SELECT {owner}, {user}, {user}, {owner}, now(), now() FROM {numbers};""")
    stack.sql("VACUUM (ANALYZE)")
    stack.sql("CHECKPOINT")


def expect_all(stack, count):
    """What was there before the upgrade is there after it."""
    for table, rows in {
            "identity.accounts": count, "identity.provider_identities": count, "identity.sessions": count, "profile.profiles": count,
            "profile.usernames": count, "invites.members": count, "invites.groups": -(-count // GROUP_SIZE)}.items():
        key = {"usernames": "user_id", "provider_identities": "user_id", "groups": "group_id", "members": "member_id",
               "sessions": "session_id"}.get(table.split(".")[1], "user_id")
        found = int(stack.sql(f"SELECT count(*) FROM {table} WHERE {key} <= {_ID.format(count)}"))
        assert found == rows, f"{table} has {found} of {rows} rows"
