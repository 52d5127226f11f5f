import Postgres
import ServiceKit
import ServiceModels
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
        Migration(number: 6, name: "closed accounts", sql: closedAccounts),
        Migration(number: 7, name: "held accounts", sql: heldAccounts),
        Migration(number: 8, name: "events for webhooks", sql: EventRows.tables),
        Migration(number: 9, name: "roles and doubts of members", sql: rolesAndDoubts),
        Migration(number: 10, name: "openness of groups", sql: openness),
        // Which numbers a user has: whose invitations wait for an answer, and whom a holding concerns.
        Migration(
            number: 11,
            name: "numbers by user",
            concurrentIndex: "phones_user",
            on: "phones (user_id) WHERE user_id IS NOT NULL"
        ),
        // How many people a user waits for in all.
        Migration(
            number: 12,
            name: "pending members by inviter",
            concurrentIndex: "members_pending_added_by",
            on: "members (added_by) WHERE user_id IS NULL"
        ),
        Migration(number: 13, name: "asked numbers", sql: askedNumbers),
        Migration(number: 14, name: "numbers that merged into a member", sql: mergedNumbers),
        Migration(number: 15, name: "requests to join, links and blocks", sql: InvitationTables.sql),
        // What is waited for no more.
        Migration(
            number: 16,
            name: "pending members by expiry",
            concurrentIndex: "members_pending_expires_at",
            on: "members (expires_at) WHERE user_id IS NULL AND expires_at IS NOT NULL"
        ),
        // What is to be forgotten of who declined.
        Migration(
            number: 17,
            name: "declined members",
            concurrentIndex: "members_declined_by",
            on: "members (declined_by) WHERE declined_by IS NOT NULL"
        ),
        Migration(number: 18, name: "changes in groups", sql: GroupEventTables.tables),
        Migration(number: 19, name: "changes of members", sql: GroupEventTables.members),
        Migration(number: 20, name: "changes of groups", sql: GroupEventTables.groups),
        Migration(number: 21, name: "changes of numbers", sql: GroupEventTables.phones),
        Migration(number: 22, name: "changes of requests to join", sql: GroupEventTables.requests),
        Migration(number: 23, name: "further inviters", sql: furtherInviters),
        Migration(number: 24, name: "makers of groups", sql: "ALTER TABLE groups ADD COLUMN created_by uuid"),
        // How many groups a user has made, whoever owns them now. Null where the version before made them: its owner has, too.
        Migration(number: 25, name: "groups by maker", concurrentIndex: "groups_created_by", on: "groups (created_by)"),
        Migration(number: 26, name: "proofs of numbers", sql: ProofTables.proofs),
        Migration(number: 27, name: "makers of links", sql: ProofTables.makersOfLinks),
        Migration(number: 28, name: "locks of users", sql: UserLocks.table),
        Migration(number: 29, name: "the line of closings", sql: lineOfClosings),
        Migration(
            number: 30,
            name: "closings by when they are due",
            concurrentIndex: "closed_accounts_due_at",
            on: "closed_accounts (due_at) WHERE swept_at IS NULL"
        ),
        // What is to be forgotten of who added and confirmed: not by way of all members of all their groups.
        Migration(
            number: 31,
            name: "members by who added them",
            concurrentIndex: "members_added_by",
            on: "members (added_by, group_id)"
        ),
        Migration(
            number: 32,
            name: "members by who confirmed them",
            concurrentIndex: "members_confirmed_by",
            on: "members (confirmed_by, group_id) WHERE confirmed_by IS NOT NULL"
        ),
        Migration(
            number: 33,
            name: "members by who else added them",
            concurrentIndex: "members_also_added_by",
            on: "members USING gin (also_added_by) WHERE also_added_by <> '{}'"
        ),
        Migration(
            number: 34,
            name: "merged numbers by who added them",
            concurrentIndex: "merged_numbers_added_by",
            on: "merged_numbers (added_by, group_id)"
        ),
        // Among them those that nobody waits for.
        Migration(
            number: 35,
            name: "numbers of nobody",
            concurrentIndex: "phones_nobody",
            on: "phones (phone) WHERE user_id IS NULL"
        ),
    ]

    /// When a closing is worked on next, and how often in a row it failed. Closings of the version before are due at once.
    private static let lineOfClosings = """
        ALTER TABLE closed_accounts ADD COLUMN due_at timestamptz NOT NULL DEFAULT now(),
            ADD COLUMN tries integer NOT NULL DEFAULT 0;
        """

    /// Which numbers users asked about lately, so that asking again counts nothing: each as a code that nobody else's is compared with.
    private static let askedNumbers = """
        CREATE TABLE asked_numbers (
            user_id uuid NOT NULL,
            number_code bytea NOT NULL CHECK (octet_length(number_code) = 16),
            asked_at timestamptz NOT NULL,
            PRIMARY KEY (user_id, number_code)
        );

        CREATE INDEX asked_numbers_asked_at ON asked_numbers (asked_at);
        """

    /// What a member may do, and by what they are held for the person who was meant. The owner is the one whom the group's row names,
    /// whatever role the owner's own row has. The version before knows none of it: it makes members who were confirmed by nobody.
    private static let rolesAndDoubts = """
        ALTER TABLE members
            ADD COLUMN role text NOT NULL DEFAULT 'member' CHECK (role IN ('member', 'admin')),
            -- Who said that this user is the person meant; null for one who is a member by the number alone.
            ADD COLUMN confirmed_by uuid,
            -- Since when the user, a member by the number alone, has it no more; null if they have, or were confirmed.
            ADD COLUMN unconfirmed_at timestamptz,
            -- Of a pending member: until when the number is awaited; null for ever.
            ADD COLUMN expires_at timestamptz,
            -- Of a pending member: the user with the number who doesn't want to be one.
            ADD COLUMN declined_by uuid;
        """

    /// Numbers that a group awaits by somebody who is its member already, by another number or none: should the user lose one, the
    /// group awaits it again, as it did before, when that is still known.
    private static let mergedNumbers = """
        CREATE TABLE merged_numbers (
            user_id uuid NOT NULL,
            phone text NOT NULL CHECK (phone ~ '^[1-9][0-9]{3,14}$'),
            group_id uuid NOT NULL REFERENCES groups ON DELETE CASCADE,
            member_id uuid NOT NULL,
            display_name text,
            added_by uuid NOT NULL,
            added_at timestamptz NOT NULL,
            PRIMARY KEY (user_id, phone, group_id)
        );
        CREATE INDEX merged_numbers_group ON merged_numbers (group_id);
        """

    /// Who added a number that a group awaited already by somebody else, at most a few: whoever blocks the first may want the others.
    private static let furtherInviters = """
        ALTER TABLE members ADD COLUMN also_added_by uuid[] NOT NULL DEFAULT '{}';
        """

    /// How a number that somebody registers becomes a member. Groups of the version before are open.
    private static let openness = """
        ALTER TABLE groups
            ADD COLUMN openness text NOT NULL DEFAULT 'open' CHECK (openness IN ('open', 'confirm', 'consent'));
        """

    /// Users whose accounts were closed, so that nobody links or takes them in who was not told yet. What was under way in that
    /// moment may come behind: it is looked for once more, and then `swept_at` is set.
    private static let closedAccounts = """
        CREATE TABLE closed_accounts (
            user_id uuid PRIMARY KEY,
            closed_at timestamptz NOT NULL,
            swept_at timestamptz
        );

        CREATE INDEX closed_accounts_closed_at ON closed_accounts (closed_at);
        """

    /// Users for whom nothing changes while it isn't decided whether another account absorbs theirs; absorptions that were
    /// refused, so that a call that comes late holds nobody; and the row whose lock ordered claims of numbers and the holding of
    /// users, for the version before ``UserLocks``.
    private static let heldAccounts = """
        CREATE TABLE held_accounts (
            user_id uuid PRIMARY KEY,
            absorption_id uuid NOT NULL,
            held_at timestamptz NOT NULL
        );

        CREATE TABLE refused_absorptions (
            absorption_id uuid PRIMARY KEY,
            refused_at timestamptz NOT NULL
        );

        CREATE INDEX refused_absorptions_refused_at ON refused_absorptions (refused_at);

        CREATE TABLE holding (
            singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton)
        );
        INSERT INTO holding DEFAULT VALUES;
        """

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
