extension IdentityMigrations {
    /// Refresh tokens of providers.
    static let providerGrants = """
        -- A provider's refresh token for an app and an account, sealed under a key of the vault. No key to accounts: a token that is to be
        -- revoked outlives them. person: a hash of provider, app and subject, which recognizes a user who left and has come back.
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

        -- The results of checks of an app's tokens, for all servers. The server that checks holds it until held_until.
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
        """

    /// Provider notifications.
    static let providerNotices = """
        -- Stored before the notification is acknowledged, and kept so that each event is applied once. subject stands here until then.
        CREATE TABLE provider_notices (
            provider text NOT NULL,
            jti text NOT NULL CHECK (octet_length(jti) BETWEEN 1 AND 255),
            number smallint NOT NULL,
            kind text NOT NULL,
            reason text,
            subject text,
            told_at timestamptz NOT NULL,
            received_at timestamptz NOT NULL,
            retry_at timestamptz NOT NULL,
            failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
            applied_at timestamptz,
            CHECK (applied_at IS NULL OR subject IS NULL),
            PRIMARY KEY (provider, jti, number)
        );
        CREATE INDEX provider_notices_waiting ON provider_notices (retry_at) WHERE applied_at IS NULL;
        CREATE INDEX provider_notices_received_at ON provider_notices (received_at);
        """

    /// Proven phone numbers.
    static let phones = """
        -- Assertions that were used, until they expire. phone_hash: a keyed hash of the number.
        CREATE TABLE phone_assertions (
            fingerprint bytea PRIMARY KEY CHECK (length(fingerprint) = 32),
            event_id uuid NOT NULL,
            user_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
            expires_at timestamptz NOT NULL,
            phone_hash bytea NOT NULL CHECK (length(phone_hash) = 32)
        );
        CREATE INDEX phone_assertions_user ON phone_assertions (user_id);
        CREATE INDEX phone_assertions_expires_at ON phone_assertions (expires_at);

        -- The number that a provider sent last for a user, as a keyed hash, so that it isn't applied again at each sign-in: the user may have
        -- chosen another one since. event_id: the event that brings it to profile, until profile has accepted it. before_hash: the number that
        -- profile had accepted before, which stands again if it rejects the new one.
        CREATE TABLE told_phones (
            provider text NOT NULL,
            subject text NOT NULL,
            phone_hash bytea NOT NULL CHECK (length(phone_hash) = 32),
            told_at timestamptz NOT NULL,
            event_id uuid,
            before_hash bytea CHECK (length(before_hash) = 32),
            PRIMARY KEY (provider, subject),
            FOREIGN KEY (provider, subject) REFERENCES provider_identities ON DELETE CASCADE ON UPDATE CASCADE
        );
        CREATE INDEX told_phones_event ON told_phones (event_id) WHERE event_id IS NOT NULL;
        """
}
