extension IdentityMigrations {
    /// Migration 20. Of the released tables it locks `security_events` alone.
    static let phoneProofEvents = """
        ALTER TABLE security_events DROP CONSTRAINT security_events_kind_check;
        ALTER TABLE security_events ADD CONSTRAINT security_events_kind_check
            CHECK (kind IN ('signed_in', 'session_ended', 'reuse_detected', 'sessions_ended_everywhere', 'session_renamed',
                'all_sessions_ended', 'account_deleted', 'account_closed', 'account_blocked', 'account_unblocked',
                'phone_released', 'provider_linked', 'provider_unlinked', 'provider_notice', 'account_found',
                'account_exported', 'provider_token_revoked', 'phone_proven', 'phone_taken', 'phone_conflict')) NOT VALID;
        """

    /// Migration 21. Of the released tables it locks `accounts` alone, for the keys to it.
    static let phoneProofs = """
        -- Proven numbers of which profile wasn't told yet: the only place here that has a number, for as long as it waits.
        CREATE TABLE phone_proofs (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            event_id uuid NOT NULL UNIQUE,
            user_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
            phone text NOT NULL,
            proof text NOT NULL CHECK (proof IN ('provider', 'assertion', 'import')),
            created_at timestamptz NOT NULL,
            trace text,
            failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
            retry_at timestamptz,
            rejected_at timestamptz,
            rejection text
        );
        CREATE INDEX phone_proofs_waiting ON phone_proofs (id) WHERE rejected_at IS NULL;
        CREATE INDEX phone_proofs_user ON phone_proofs (user_id, id);

        -- Whose lock makes one relay of many the one that works.
        CREATE TABLE phone_proofs_relay (
            singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton)
        );
        INSERT INTO phone_proofs_relay DEFAULT VALUES;

        -- Assertions that were used, and by which event each is known: so long they would be accepted.
        CREATE TABLE phone_assertions (
            fingerprint bytea PRIMARY KEY CHECK (length(fingerprint) = 32),
            event_id uuid NOT NULL,
            user_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
            expires_at timestamptz NOT NULL
        );
        CREATE INDEX phone_assertions_user ON phone_assertions (user_id);
        CREATE INDEX phone_assertions_expires_at ON phone_assertions (expires_at);
        """

    /// Migration 22. Of the released tables it locks `provider_identities` alone, for the key to it.
    static let toldPhones = """
        -- Which number a provider told last of a person, as a keyed hash, so that it isn't told again at each sign-in: the person may have
        -- chosen another one since.
        CREATE TABLE told_phones (
            provider text NOT NULL,
            subject text NOT NULL,
            phone_hash bytea NOT NULL CHECK (length(phone_hash) = 32),
            told_at timestamptz NOT NULL,
            PRIMARY KEY (provider, subject),
            FOREIGN KEY (provider, subject) REFERENCES provider_identities ON DELETE CASCADE ON UPDATE CASCADE
        );
        """

    /// Migration 24. Of the released tables it locks `told_phones` alone.
    static let settledPhones = """
        -- By which event the number is told, until profile has taken it; and which one it had taken before. If it doesn't take the new one
        -- that stands again. The version before leaves both null: what it tells counts as taken.
        ALTER TABLE told_phones ADD COLUMN event_id uuid, ADD COLUMN before_hash bytea CHECK (length(before_hash) = 32);
        CREATE INDEX told_phones_event ON told_phones (event_id) WHERE event_id IS NOT NULL;
        """

    /// Migration 25. Of the released tables it locks `phone_assertions` alone.
    static let assertedPhones = """
        -- Of which number an assertion is, as a keyed hash; null if the version before took it, which is so for five minutes.
        ALTER TABLE phone_assertions ADD COLUMN phone_hash bytea CHECK (length(phone_hash) = 32);
        """
}
