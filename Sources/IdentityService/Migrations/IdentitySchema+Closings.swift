extension IdentityMigrations {
    /// The end of accounts.
    static let closings = """
        -- Accounts that were closed, and which services have deleted the user's data since. No key to accounts: an account's row goes with
        -- its closing. Kept for a month after all services have answered, so that no remainder is taken for another user's.
        -- consents_left: providers at which the user has to withdraw their consent themselves.
        CREATE TABLE account_closings (
            user_id uuid PRIMARY KEY,
            why text NOT NULL CHECK (why IN ('deleted', 'operator', 'provider_notice', 'absorbed')),
            closed_at timestamptz NOT NULL,
            consents_left text[] NOT NULL DEFAULT '{}',
            profile_done_at timestamptz,
            invites_done_at timestamptz
        );
        CREATE INDEX account_closings_closed_at ON account_closings (closed_at);

        -- Accounts that will be deleted, and when. next_at is when the deletion is tried: deletes_at at first, later after a failure.
        CREATE TABLE scheduled_deletions (
            user_id uuid PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
            scheduled_at timestamptz NOT NULL,
            deletes_at timestamptz NOT NULL,
            next_at timestamptz NOT NULL,
            failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
            CHECK (scheduled_at < deletes_at AND deletes_at <= next_at)
        );
        CREATE INDEX scheduled_deletions_next_at ON scheduled_deletions (next_at);
        """

    /// Accounts that are merged into others.
    static let absorptions = """
        -- Merges of two accounts, until they are done or refused. The process that works on one holds it until held_until. fingerprints: the
        -- credentials that asker showed. failures: failed tries in a row; retry_at: when the next one is due. No key to accounts: a merge is
        -- ended at other services also when one of the two was deleted.
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
            failures integer NOT NULL DEFAULT 0,
            retry_at timestamptz,
            CHECK (absorbed <> absorber AND asker IN (absorbed, absorber))
        );
        CREATE INDEX absorptions_held_until ON absorptions (held_until);

        -- Merges that open an imported account which nobody could sign in to, and why: the proof of its number, or an operator, by the name
        -- in their certificate.
        CREATE TABLE account_openings (
            absorption_id uuid PRIMARY KEY REFERENCES absorptions ON DELETE CASCADE,
            ground text NOT NULL CHECK (ground IN ('provider', 'assertion', 'operator')),
            operator text,
            CHECK (operator IS NULL OR ground = 'operator')
        );
        """
}
