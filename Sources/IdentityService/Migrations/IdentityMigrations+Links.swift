extension IdentityMigrations {
    /// Of the released tables it locks `sessions` alone.
    static let unlinkedSessions = """
        -- Sessions that end because the provider that opened them was unlinked.
        ALTER TABLE sessions DROP CONSTRAINT sessions_revoke_reason_check;
        ALTER TABLE sessions ADD CONSTRAINT sessions_revoke_reason_check
            CHECK (revoke_reason IN ('sign_out', 'reuse', 'end_all', 'proven', 'ended', 'too_many', 'operator',
                'account_deleted', 'provider', 'unlinked')) NOT VALID;
        """

    /// Locks none of the released tables.
    static let absorptions = """
        -- Accounts of which one absorbs the other, until that is done or refused. Whoever goes on with it holds it until held_until.
        -- The fingerprints are those of the credentials that asker showed. No key to accounts: what was told to others is to be
        -- ended also when one of the two was deleted.
        CREATE TABLE absorptions (
            absorption_id uuid PRIMARY KEY,
            absorbed uuid NOT NULL UNIQUE,
            absorber uuid NOT NULL UNIQUE,
            asker uuid NOT NULL,
            fingerprints bytea[] NOT NULL,
            state text NOT NULL CHECK (state IN ('asking', 'closing', 'reopening', 'moving')),
            may_turn boolean NOT NULL,
            begun_at timestamptz NOT NULL,
            held_until timestamptz NOT NULL,
            CHECK (absorbed <> absorber AND asker IN (absorbed, absorber))
        );
        CREATE INDEX absorptions_held_until ON absorptions (held_until);
        """

    static let postponedAbsorptions = """
        -- How often in a row an absorption failed, and from when on it is tried again; null if it did not.
        ALTER TABLE absorptions ADD COLUMN failures integer NOT NULL DEFAULT 0, ADD COLUMN retry_at timestamptz;
        """
}
