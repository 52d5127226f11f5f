import Postgres
import ServiceStore

/// The schema "identity". A migration that was released is never changed: a new one is added.
public enum IdentityMigrations {
    /// All migrations, in order.
    public static let all: [Migration] = [
        Migration(
            number: 1,
            name: "schema of 0.9.0",
            sql: [
                accounts, providerIdentities, sessions, revocations, securityEvents, webhooks, signIns, closings,
                absorptions,
                providerGrants, providerNotices, phones, QuotaStore.table,
            ].joined(separator: "\n\n")
        )
    ]

    /// The rare events of the audit log: accounts have many sign-ins and ends of sessions, and few other events.
    static let rareEvents = "kind NOT IN ('signed_in', 'session_ended')"
}
