import Postgres
import ServiceKit
import ServiceStore

/// The profile schema, step by step. A step that was released is never changed; a new one is added.
public enum ProfileMigrations {
    /// All steps, in order.
    public static let all: [Migration] = [
        Migration(number: 1, name: "profiles", sql: profiles),
        Migration(number: 2, name: "outbox", sql: outbox),
        Migration(number: 3, name: "outbox retries", sql: outboxRetries),
        Migration(number: 4, name: "limits of claims", sql: claimLimits),
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
