import ServiceStore

extension ProfileMigrations {
    /// Profiles, their usernames and pictures.
    static let profiles = """
        -- phone_tries, phone_claims: failed tries and numbers taken, since a moment; they are here because this row is the lock under which
        -- they are read. proven_phone: the number that is proven; a profile is read in one row. phone_taken_at: when another user's proof took
        -- the number. phone_chosen_at: when the user last saved a number or gave theirs up, or an operator released it. imported_at: when an
        -- import was complete; it then leaves the profile alone.
        CREATE TABLE profiles (
            user_id uuid PRIMARY KEY,
            display_name text,
            username text,
            phone text CHECK (phone ~ '^[1-9][0-9]{3,14}$'),
            updated_at timestamptz,
            phone_tries integer NOT NULL DEFAULT 0 CHECK (phone_tries >= 0),
            phone_tries_since timestamptz,
            phone_claims integer NOT NULL DEFAULT 0 CHECK (phone_claims >= 0),
            phone_claims_since timestamptz,
            proven_phone text CHECK (proven_phone ~ '^[1-9][0-9]{3,14}$'),
            phone_taken_at timestamptz,
            avatar text CHECK (octet_length(avatar) <= 512),
            revision bigint NOT NULL DEFAULT 0 CHECK (revision >= 0),
            imported_at timestamptz,
            phone_chosen_at timestamptz
        );

        -- The primary key is the rule that only one user has a username. The table would be distributed by it.
        CREATE TABLE usernames (
            username_key text PRIMARY KEY CHECK (username_key ~ '^[a-z0-9_]{3,20}$'),
            user_id uuid NOT NULL,
            claimed_at timestamptz NOT NULL
        );

        -- Uploaded pictures, outside the profile that each request reads. The id is 128 random bits. The bytes are compressed already, so
        -- PostgreSQL does not try.
        CREATE TABLE avatars (
            id uuid PRIMARY KEY,
            user_id uuid NOT NULL UNIQUE REFERENCES profiles ON DELETE CASCADE,
            type text NOT NULL CHECK (type IN ('image/png', 'image/jpeg', 'image/webp')),
            bytes bytea NOT NULL CHECK (octet_length(bytes) > 0),
            created_at timestamptz NOT NULL
        );
        ALTER TABLE avatars ALTER COLUMN bytes SET STORAGE EXTERNAL;
        """

    /// Phone numbers, what proves them, and who may take them.
    static let phones = """
        -- The primary key is the rule that only one user has a number. proof: null for a typed number.
        CREATE TABLE phones (
            phone text PRIMARY KEY CHECK (phone ~ '^[1-9][0-9]{3,14}$'),
            user_id uuid NOT NULL,
            claimed_at timestamptz NOT NULL,
            proven_at timestamptz,
            proof text CHECK (proof IN ('provider', 'assertion', 'import'))
        );

        -- The outcome of each claim by proof, so that it is applied once. taken_from: the user who lost the number; also_taken_from: the
        -- user who had typed the number and given it up before.
        CREATE TABLE proven_claims (
            event_id uuid PRIMARY KEY,
            user_id uuid NOT NULL,
            outcome text NOT NULL CHECK (outcome IN ('proven', 'conflict', 'outdated')),
            taken_from uuid,
            applied_at timestamptz NOT NULL,
            also_taken_from uuid
        );
        CREATE INDEX proven_claims_user ON proven_claims (user_id);
        CREATE INDEX proven_claims_taken_from ON proven_claims (taken_from) WHERE taken_from IS NOT NULL;
        CREATE INDEX proven_claims_also_taken_from ON proven_claims (also_taken_from) WHERE also_taken_from IS NOT NULL;
        CREATE INDEX proven_claims_applied_at ON proven_claims (applied_at);

        -- Numbers that two users have proven, for operators; one for each claimant.
        CREATE TABLE phone_disputes (
            claimant_user_id uuid PRIMARY KEY,
            holder_user_id uuid NOT NULL,
            phone text NOT NULL,
            proof text NOT NULL CHECK (proof IN ('provider', 'assertion', 'import')),
            created_at timestamptz NOT NULL
        );
        CREATE INDEX phone_disputes_holder ON phone_disputes (holder_user_id);
        CREATE INDEX phone_disputes_created_at ON phone_disputes (created_at);

        -- Numbers that were given up a while ago, which only their last user may take without proof. was_proven: whether that user had proven
        -- it. Rows of typed numbers stay beyond their time; the index finds the others.
        CREATE TABLE phone_cool_downs (
            phone text PRIMARY KEY,
            user_id uuid NOT NULL,
            until timestamptz NOT NULL,
            was_proven boolean NOT NULL
        );
        CREATE INDEX phone_cool_downs_user ON phone_cool_downs (user_id);
        CREATE INDEX phone_cool_downs_until ON phone_cool_downs (until);
        CREATE INDEX phone_cool_downs_proven_until ON phone_cool_downs (until) WHERE was_proven;
        """

    /// Accounts that were closed, merged or imported.
    static let accounts = """
        -- Users whose accounts were closed, so that a request that was let in before saves nothing for them.
        CREATE TABLE closed_accounts (
            user_id uuid PRIMARY KEY,
            closed_at timestamptz NOT NULL
        );
        CREATE INDEX closed_accounts_closed_at ON closed_accounts (closed_at);

        -- Merges that were refused, so that a call that comes late closes nothing.
        CREATE TABLE refused_absorptions (
            absorption_id uuid PRIMARY KEY,
            refused_at timestamptz NOT NULL
        );
        CREATE INDEX refused_absorptions_refused_at ON refused_absorptions (refused_at);

        -- The positions of imports that haven't ended, by the digest of their input. No user is named here.
        CREATE TABLE account_imports (
            digest bytea PRIMARY KEY CHECK (length(digest) = 32),
            position text NOT NULL,
            updated_at timestamptz NOT NULL
        );
        """

    /// Work that is done later. A number's events are inserted while its row in `phones` is locked, so that their ids rise in the order of
    /// commits.
    static let work = """
        \(WorkTable.sql)
        INSERT INTO ordered_queues VALUES ('\(PhoneEventWork.queue)');
        -- To find users who lost a number.
        CREATE INDEX work_taken_from ON work (((data ->> 'taken_from')::uuid)) WHERE data ->> 'taken_from' IS NOT NULL;
        """
}
