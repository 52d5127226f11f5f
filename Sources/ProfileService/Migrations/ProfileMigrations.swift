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
        ),
        Migration(
            number: 2,
            name: "profiles by the beginning of their names, for operators",
            concurrentIndex: "profiles_display_name",
            on: "profiles (lower(left(display_name, 50)) text_pattern_ops, user_id) WHERE display_name IS NOT NULL",
            release: MinorVersion(0, 10)
        ),
    ]
}
