import Postgres
import ServiceModels
import ServiceStore

/// The schema "profile". A migration that was released is never changed: a new one is added.
public enum ProfileMigrations {
    /// All migrations, in order.
    public static let all: [Migration] = [
        Migration(
            number: 1,
            name: "schema of 0.9.0",
            sql: [profiles, phones, accounts, work, QuotaStore.table, ServiceEventWork.wantedEvents].joined(
                separator: "\n\n"
            )
        )
    ]
}
