extension IdentityMigrations {
    /// Of the released tables it locks `sessions` alone.
    static let providerGrants = """
        -- What a provider granted to an app of ours for an account: its refresh token, sealed under a key of the vault. No key to
        -- accounts: a token that is to be revoked outlives them. person is a hash of provider, app and subject, by which
        -- is known that somebody who left has come back.
        CREATE TABLE provider_grants (
            grant_id uuid PRIMARY KEY,
            user_id uuid NOT NULL,
            provider text NOT NULL,
            client_id text NOT NULL,
            person bytea NOT NULL CHECK (octet_length(person) = 32),
            key_id text NOT NULL,
            sealed_token bytea NOT NULL,
            state text NOT NULL CHECK (state IN ('kept', 'revoking')),
            granted_at timestamptz NOT NULL,
            checked_at timestamptz,
            abandoned_at timestamptz,
            tries integer NOT NULL DEFAULT 0,
            next_at timestamptz NOT NULL,
            CHECK ((state = 'revoking') = (abandoned_at IS NOT NULL))
        );
        CREATE UNIQUE INDEX provider_grants_kept ON provider_grants (user_id, provider, client_id) WHERE state = 'kept';
        CREATE INDEX provider_grants_check ON provider_grants (provider, client_id, next_at) WHERE state = 'kept';
        CREATE INDEX provider_grants_revoke ON provider_grants (next_at) WHERE state = 'revoking';
        CREATE INDEX provider_grants_person ON provider_grants (person);
        CREATE INDEX provider_grants_key_id ON provider_grants (key_id, grant_id);

        -- How checks of an app's tokens go, for all servers. Whoever checks holds it until held_until.
        CREATE TABLE provider_checks (
            provider text NOT NULL,
            client_id text NOT NULL,
            window_began_at timestamptz NOT NULL,
            checked bigint NOT NULL,
            refused bigint NOT NULL,
            stop_reason text CHECK (stop_reason IN ('not_configured', 'unavailable', 'refusals')),
            stopped_until timestamptz NOT NULL,
            held_until timestamptz NOT NULL,
            PRIMARY KEY (provider, client_id)
        );

        ALTER TABLE sessions DROP CONSTRAINT sessions_revoke_reason_check;
        ALTER TABLE sessions ADD CONSTRAINT sessions_revoke_reason_check
            CHECK (revoke_reason IN ('sign_out', 'reuse', 'end_all', 'proven', 'ended', 'too_many', 'operator',
                'account_deleted', 'provider')) NOT VALID;
        """
}
