import Postgres
import ServiceKit
import ServiceStore

/// The invites schema, step by step. A step that was released is never changed; a new one is added.
public enum InvitesMigrations {
    /// All steps, in order.
    public static let all: [Migration] = [
        Migration(number: 1, name: "groups and members", sql: groupsAndMembers),
        Migration(number: 2, name: "phones and inbox", sql: phonesAndInbox),
        Migration(number: 3, name: "keys of created groups", sql: groupKeys),
        Migration(number: 4, name: "quotas", sql: QuotaStore.table),
        // How many groups a user has made.
        Migration(number: 5, name: "groups by owner", concurrentIndex: "groups_owner", on: "groups (owner_user_id)"),
    ]

    /// Groups, and who is in them or awaited. A member without a user is pending. A user is in a group once, and a
    /// number is awaited by a group once; a member who was linked keeps the number that they were added by, which may
    /// have another owner since and then be awaited or linked again.
    private static let groupsAndMembers = """
        CREATE TABLE groups (
            group_id uuid PRIMARY KEY,
            name text NOT NULL,
            owner_user_id uuid NOT NULL,
            created_at timestamptz NOT NULL
        );

        CREATE TABLE members (
            group_id uuid NOT NULL REFERENCES groups,
            member_id uuid NOT NULL,
            user_id uuid,
            phone text CHECK (phone ~ '^[1-9][0-9]{3,14}$'),
            display_name text,
            added_by uuid NOT NULL,
            added_at timestamptz NOT NULL,
            linked_at timestamptz,
            PRIMARY KEY (group_id, member_id),
            CONSTRAINT members_user_or_phone CHECK (user_id IS NOT NULL OR phone IS NOT NULL),
            CONSTRAINT members_linked CHECK ((user_id IS NULL) = (linked_at IS NULL))
        );

        CREATE UNIQUE INDEX members_user ON members (user_id, group_id) WHERE user_id IS NOT NULL;
        CREATE UNIQUE INDEX members_pending_phone ON members (phone, group_id) WHERE user_id IS NULL;
        """

    /// Who has each number, as the profile service told it; its row is the lock under which a number is invited and
    /// claimed. And the events that were applied, so that none is applied twice.
    private static let phonesAndInbox = """
        CREATE TABLE phones (
            phone text PRIMARY KEY CHECK (phone ~ '^[1-9][0-9]{3,14}$'),
            user_id uuid
        );

        CREATE TABLE inbox (
            event_id uuid PRIMARY KEY,
            applied_at timestamptz NOT NULL
        );

        CREATE INDEX inbox_applied_at ON inbox (applied_at);
        """

    /// Which group a client's key has created, so that asking again creates none. What was asked for is kept as a hash,
    /// which is all that telling a key's reuse needs. The version before doesn't know the table and misses nothing.
    private static let groupKeys = """
        CREATE TABLE group_keys (
            user_id uuid NOT NULL,
            idempotency_key uuid NOT NULL,
            group_id uuid NOT NULL,
            request_hash bytea NOT NULL CHECK (length(request_hash) = 32),
            created_at timestamptz NOT NULL,
            PRIMARY KEY (user_id, idempotency_key)
        );

        CREATE INDEX group_keys_created_at ON group_keys (created_at);
        """
}
