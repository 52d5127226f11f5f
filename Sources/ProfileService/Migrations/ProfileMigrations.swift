import Postgres
import ServiceKit
import ServiceModels
import ServiceStore

/// The profile schema, step by step. A step that was released is never changed; a new one is added.
public enum ProfileMigrations {
    /// All steps, in order.
    public static let all: [Migration] = [
        Migration(number: 1, name: "profiles", sql: profiles),
        Migration(number: 2, name: "outbox", sql: outbox),
        Migration(number: 3, name: "outbox retries", sql: outboxRetries),
        Migration(number: 4, name: "limits of claims", sql: claimLimits),
        Migration(number: 5, name: "closed accounts", sql: closedAccounts),
        Migration(number: 6, name: "refused absorptions", sql: refusedAbsorptions),
        Migration(number: 7, name: "events for webhooks", sql: EventRows.tables),
        Migration(number: 8, name: "proofs of numbers", sql: provenPhones),
        Migration(number: 9, name: "what profiles tell of proofs", sql: provenProfiles),
        Migration(number: 10, name: "proofs and traces in events", sql: provenEvents),
        Migration(number: 11, name: "claims by proof, disputes, cool-downs", sql: claimsByProof),
        Migration(number: 12, name: "avatars", sql: avatars),
        Migration(number: 13, name: "imports of accounts", sql: imports),
        Migration(number: 14, name: "typed numbers that were given up", sql: typedNumbers),
        Migration(number: 15, name: "proofs that are told late, or take from two", sql: lateProofs),
    ]

    /// Profiles, and one table for each thing that only one user may have: its primary key is the rule, and would be
    /// the key that the table is distributed by. The count of failed tries lies in the profile's row because that row
    /// is the lock under which it is read.
    private static let profiles = """
        CREATE TABLE profiles (
            user_id uuid PRIMARY KEY,
            display_name text,
            username text,
            phone text CHECK (phone ~ '^[1-9][0-9]{3,14}$'),
            updated_at timestamptz,
            phone_tries integer NOT NULL DEFAULT 0 CHECK (phone_tries >= 0),
            phone_tries_since timestamptz
        );

        CREATE TABLE phones (
            phone text PRIMARY KEY CHECK (phone ~ '^[1-9][0-9]{3,14}$'),
            user_id uuid NOT NULL,
            claimed_at timestamptz NOT NULL
        );

        CREATE TABLE usernames (
            username_key text PRIMARY KEY CHECK (username_key ~ '^[a-z0-9_]{3,20}$'),
            user_id uuid NOT NULL,
            claimed_at timestamptz NOT NULL
        );
        """

    /// How many numbers a user took, beside the count of failed tries; and the counts of addresses.
    private static let claimLimits = """
        ALTER TABLE profiles
            ADD COLUMN phone_claims integer NOT NULL DEFAULT 0 CHECK (phone_claims >= 0),
            ADD COLUMN phone_claims_since timestamptz;

        \(QuotaStore.table)
        """

    /// Users whose accounts were closed, so that nothing is saved for them by a call that was let in before; and which
    /// releases came of it. The version before tells these as any other.
    private static let closedAccounts = """
        CREATE TABLE closed_accounts (
            user_id uuid PRIMARY KEY,
            closed_at timestamptz NOT NULL
        );

        CREATE INDEX closed_accounts_closed_at ON closed_accounts (closed_at);

        ALTER TABLE outbox ADD COLUMN by_deletion boolean NOT NULL DEFAULT false;
        """

    /// Absorptions of accounts that were refused, so that a call that comes late closes nothing.
    private static let refusedAbsorptions = """
        CREATE TABLE refused_absorptions (
            absorption_id uuid PRIMARY KEY,
            refused_at timestamptz NOT NULL
        );

        CREATE INDEX refused_absorptions_refused_at ON refused_absorptions (refused_at);
        """

    /// By what it is known that a number is a user's; null for a typed one. The version before takes and gives up numbers by rows of
    /// their own, which are proven by nothing.
    private static let provenPhones = """
        ALTER TABLE phones
            ADD COLUMN proven_at timestamptz,
            ADD COLUMN proof text CHECK (proof IN ('provider', 'assertion', 'import'));
        """

    /// Which number is proven: so that a profile is read in one row. The version before leaves it as it is when it saves another one,
    /// which it then differs from. And when the number was taken by somebody's proof.
    private static let provenProfiles = """
        ALTER TABLE profiles
            ADD COLUMN proven_phone text CHECK (proven_phone ~ '^[1-9][0-9]{3,14}$'),
            ADD COLUMN phone_taken_at timestamptz;
        """

    /// What invites must know of a claim by proof. The version before tells it as any other.
    private static let provenEvents = """
        ALTER TABLE outbox
            ADD COLUMN is_proven boolean NOT NULL DEFAULT false,
            ADD COLUMN taken_from uuid,
            ADD COLUMN trace text;
        """

    /// What each claim by proof came to, so that it is applied once; numbers that two have proven, for operators, one for each
    /// user; and numbers that were given up a while ago, which only their last user may take without proof.
    private static let claimsByProof = """
        CREATE TABLE proven_claims (
            event_id uuid PRIMARY KEY,
            user_id uuid NOT NULL,
            outcome text NOT NULL CHECK (outcome IN ('proven', 'conflict')),
            taken_from uuid,
            applied_at timestamptz NOT NULL
        );
        CREATE INDEX proven_claims_user ON proven_claims (user_id);
        CREATE INDEX proven_claims_taken_from ON proven_claims (taken_from) WHERE taken_from IS NOT NULL;
        CREATE INDEX proven_claims_applied_at ON proven_claims (applied_at);

        CREATE TABLE phone_disputes (
            claimant_user_id uuid PRIMARY KEY,
            holder_user_id uuid NOT NULL,
            phone text NOT NULL,
            proof text NOT NULL CHECK (proof IN ('provider', 'assertion', 'import')),
            created_at timestamptz NOT NULL
        );
        CREATE INDEX phone_disputes_holder ON phone_disputes (holder_user_id);
        CREATE INDEX phone_disputes_created_at ON phone_disputes (created_at);

        CREATE TABLE phone_cool_downs (
            phone text PRIMARY KEY,
            user_id uuid NOT NULL,
            until timestamptz NOT NULL
        );
        CREATE INDEX phone_cool_downs_user ON phone_cool_downs (user_id);
        CREATE INDEX phone_cool_downs_until ON phone_cool_downs (until);
        """

    /// Pictures, and how often a profile was changed. The version before leaves both as they are, so that a save by it isn't
    /// counted. An uploaded image stands outside the profile, which is read with each request; its id is 128 random bits, in the
    /// type that holds so many; it goes with the profile, also where the version before closes an account. It is compressed already, so
    /// PostgreSQL needn't try.
    private static let avatars = """
        ALTER TABLE profiles
            ADD COLUMN avatar text CHECK (octet_length(avatar) <= 512),
            ADD COLUMN revision bigint NOT NULL DEFAULT 0 CHECK (revision >= 0);

        CREATE TABLE avatars (
            id uuid PRIMARY KEY,
            user_id uuid NOT NULL UNIQUE REFERENCES profiles ON DELETE CASCADE,
            type text NOT NULL CHECK (type IN ('image/png', 'image/jpeg', 'image/webp')),
            bytes bytea NOT NULL CHECK (octet_length(bytes) > 0),
            created_at timestamptz NOT NULL
        );
        ALTER TABLE avatars ALTER COLUMN bytes SET STORAGE EXTERNAL;
        """

    /// What other services must be told. Ids rise in the order of commits for each number, because a number's events
    /// are inserted while its row in `phones` is locked. Delivered events are deleted; rejected ones stay for people
    /// to look at, outside the index that the relay reads.
    private static let outbox = """
        CREATE TABLE outbox (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            event_id uuid NOT NULL,
            kind text NOT NULL CHECK (kind IN ('claimed', 'released')),
            phone text NOT NULL,
            user_id uuid NOT NULL,
            created_at timestamptz NOT NULL,
            rejected_at timestamptz,
            rejection text
        );

        CREATE INDEX outbox_waiting ON outbox (id) WHERE rejected_at IS NULL;
        """

    /// How often the receiver failed on an event alone, and when it may be tried again; the events that hold up the later
    /// ones of their number, by number; and the row whose lock makes one relay of many the one that works. (A row, since
    /// an advisory lock could be taken by every role of the database.) The version before knows none of this and relays
    /// beside: the receiver applies an event once by its id, whoever tells it.
    private static let outboxRetries = """
        ALTER TABLE outbox
            ADD COLUMN failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
            ADD COLUMN retry_at timestamptz;

        CREATE INDEX outbox_held ON outbox (phone, id) WHERE rejected_at IS NOT NULL OR retry_at IS NOT NULL;

        CREATE TABLE outbox_relay (
            singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton)
        );
        INSERT INTO outbox_relay DEFAULT VALUES;
        """
}
