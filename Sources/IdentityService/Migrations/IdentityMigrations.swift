import Postgres

/// The schema "identity", forward only: a migration that was released is never changed.
public enum IdentityMigrations {
    /// All migrations, in order.
    public static let all: [Migration] = [
        Migration(number: 1, name: "accounts, provider identities, sessions, sign-ins", sql: accountsAndSessions),
        Migration(number: 2, name: "an end for all sessions, and where e-mails are from", sql: endOfAllSessions),
    ]

    private static let endOfAllSessions = """
        -- One row: sessions that were begun before sessions_from have been ended, all of them at once, and provider tokens
        -- that were issued before it buy none. Each check of a session reads it in the same statement.
        CREATE TABLE session_epoch (
            is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
            sessions_from timestamptz NOT NULL
        );
        INSERT INTO session_epoch (sessions_from) VALUES ('-infinity');

        ALTER TABLE sessions DROP CONSTRAINT sessions_revoke_reason_check;
        ALTER TABLE sessions ADD CONSTRAINT sessions_revoke_reason_check
            CHECK (revoke_reason IN ('sign_out', 'reuse', 'end_all')) NOT VALID;

        -- Whether only the app told the e-mail. Of those that are there nobody knows: they count as the provider's.
        ALTER TABLE provider_identities ADD COLUMN is_email_told boolean NOT NULL DEFAULT false;
        """

    private static let accountsAndSessions = """
        CREATE TABLE accounts (
            user_id uuid PRIMARY KEY,
            created_at timestamptz NOT NULL
        );

        -- A provider's name for a person. E-mail is to show and to write to, never a key.
        CREATE TABLE provider_identities (
            provider text NOT NULL,
            subject text NOT NULL,
            user_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
            email text,
            is_email_verified boolean NOT NULL,
            is_private_email boolean NOT NULL,
            told_name text,
            real_user_status smallint,
            created_at timestamptz NOT NULL,
            last_sign_in_at timestamptz NOT NULL,
            PRIMARY KEY (provider, subject)
        );
        CREATE INDEX provider_identities_user_id ON provider_identities (user_id, created_at);

        -- One row a session. A refresh token is an HMAC over session, generation and nonce, so none is stored.
        -- Refreshes change no indexed column: with the room that fillfactor leaves they stay on their page.
        CREATE TABLE sessions (
            session_id uuid PRIMARY KEY,
            user_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
            provider text NOT NULL,
            client_id text NOT NULL,
            device_name text,
            opened_account boolean NOT NULL,
            nonce bytea NOT NULL CHECK (octet_length(nonce) = 16),
            generation bigint NOT NULL DEFAULT 0 CHECK (generation BETWEEN 0 AND 4294967295),
            created_at timestamptz NOT NULL,
            last_used_at timestamptz NOT NULL,
            rotated_at timestamptz,
            expires_at timestamptz NOT NULL,
            revoked_at timestamptz,
            revoke_reason text CHECK (revoke_reason IN ('sign_out', 'reuse')),
            CHECK ((revoked_at IS NULL) = (revoke_reason IS NULL))
        ) WITH (fillfactor = 80);
        CREATE INDEX sessions_user_id ON sessions (user_id);
        CREATE INDEX sessions_expires_at ON sessions (expires_at);

        -- Provider tokens that bought a session, until the token itself would be refused.
        CREATE TABLE sign_ins (
            fingerprint bytea PRIMARY KEY CHECK (octet_length(fingerprint) = 32),
            session_id uuid NOT NULL,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL
        );
        CREATE INDEX sign_ins_expires_at ON sign_ins (expires_at);
        """
}
