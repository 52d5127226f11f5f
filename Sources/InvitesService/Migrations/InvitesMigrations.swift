import Postgres
import ServiceModels
import ServiceStore

/// The schema "invites". A migration that was released is never changed: a new one is added.
public enum InvitesMigrations {
    /// All migrations, in order.
    public static let all: [Migration] = [
        Migration(
            number: 1,
            name: "schema of 0.9.0",
            sql: [
                numbers, groups, invitations, accounts, UserLocks.table, QuotaStore.table, WorkTable.sql,
                ServiceEventWork.wantedEvents,
                GroupEventTables.tables,
                GroupEventTables.members, GroupEventTables.groups, GroupEventTables.phones, GroupEventTables.requests,
            ].joined(separator: "\n\n")
        ),
        Migration(
            number: 2,
            name: "guests",
            sql: guests,
            release: MinorVersion(0, 10),
            effects: [.altered("closed_accounts")]
        ),
        Migration(
            number: 3,
            name: "accounts by the guests that they absorbed",
            concurrentIndex: "closed_accounts_successor",
            on: "closed_accounts (successor) WHERE successor IS NOT NULL",
            release: MinorVersion(0, 10)
        ),
        Migration(
            number: 4,
            name: "a log that is read by its clock",
            only: .distributed,
            sql: """
                \(RandomRowID.sql(table: "group_events"))
                CREATE INDEX group_events_user_made_at ON group_events (user_id, made_at, id) WHERE user_id IS NOT NULL;
                CREATE INDEX group_events_group_made_at ON group_events (group_id, made_at, id) WHERE user_id IS NULL;
                """,
            release: MinorVersion(0, 10)
        ),
    ]
}
