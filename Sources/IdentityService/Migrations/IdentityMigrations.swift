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
                accounts, providerIdentities, sessions, revocations, work, securityEvents, webhooks, signIns, closings,
                absorptions,
                providerGrants, providerNotices, phones, QuotaStore.table,
            ].joined(separator: "\n\n")
        ),
        Migration(
            number: 2,
            name: "clients that sign users in by OpenID Connect",
            sql: authorizationCodes,
            release: MinorVersion(0, 10),
            effects: [.altered("sessions")]
        ),
        Migration(
            number: 3,
            name: "more for clients",
            sql: clientsOfMoreKinds,
            release: MinorVersion(0, 10),
            effects: [.altered("authorization_codes"), .altered("sessions")]
        ),
        Migration(
            number: 4,
            name: "guests",
            sql: guests,
            release: MinorVersion(0, 10),
            effects: [
                .altered("absorptions"), .altered("account_closings"), .altered("accounts"),
                .altered("security_events"), .altered("sessions"), .validated("account_closings"),
                .validated("security_events"), .validated("sessions"),
            ]
        ),
        Migration(
            number: 5,
            name: "guests by their time",
            concurrentIndex: "accounts_guest_until",
            on: "accounts (guest_until) WHERE guest_until IS NOT NULL",
            release: MinorVersion(0, 10)
        ),
        Migration(
            number: 6,
            name: "closings by the account that took the place",
            concurrentIndex: "account_closings_successor",
            on: "account_closings (successor) WHERE successor IS NOT NULL",
            release: MinorVersion(0, 10)
        ),
        Migration(
            number: 7,
            name: "accounts by their age, for operators",
            concurrentIndex: "accounts_created_at",
            on: "accounts (created_at, user_id)",
            release: MinorVersion(0, 10)
        ),
        Migration(
            number: 8,
            name: "blocked accounts by their age, for operators",
            concurrentIndex: "accounts_blocked",
            on: "accounts (created_at, user_id) WHERE blocked_at IS NOT NULL",
            release: MinorVersion(0, 10)
        ),
        Migration(
            number: 9,
            name: "sessions by the name of their device, for operators",
            concurrentIndex: "sessions_device_name",
            on: "sessions (lower(left(device_name, 50)), session_id) WHERE device_name IS NOT NULL",
            release: MinorVersion(0, 10)
        ),
        Migration(
            number: 10,
            name: "logs that are read by their clock",
            only: .distributed,
            sql: """
                \(RandomRowID.sql(table: "revocations"))
                CREATE INDEX security_events_rare_id ON security_events (event_id) WHERE \(rareEvents);
                """,
            release: MinorVersion(0, 10)
        ),
        Migration(
            number: 11,
            name: "passkeys",
            sql: passkeys,
            release: MinorVersion(0, 10),
            effects: [.referred("provider_identities"), .altered("sessions"), .validated("sessions")]
        ),
        Migration(
            number: 12,
            name: "recovery codes",
            sql: recoveryCodes,
            release: MinorVersion(0, 10),
            effects: [
                .referred("accounts"), .altered("passkeys"), .altered("security_events"), .validated("security_events"),
            ]
        ),
        Migration(
            number: 13,
            name: "sessions that are bound to a key",
            sql: boundSessions,
            release: MinorVersion(0, 10),
            effects: [
                .altered("authorization_codes"), .altered("sessions"), .validated("authorization_codes"),
                .validated("sessions"),
            ]
        ),
    ]

    /// Work that is done later. Proofs of a user's phone number are ordered by the user.
    static let work = """
        \(WorkTable.sql)
        INSERT INTO ordered_queues VALUES ('\(PhoneProofWork.queue)');
        """

    /// The rare events of the audit log: accounts have many sign-ins and ends of sessions, and few other events.
    static let rareEvents = "kind NOT IN ('signed_in', 'session_ended')"
}
