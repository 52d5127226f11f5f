import Models
import Postgres
import RPC
import ServiceModels

/// What a person can do about events that are held: those that are set aside, and those that wait to be tried again.
///
/// Each change is made while no relay works, so that none looks at what is being changed.
struct OutboxDesk: Sendable {
    /// One event that is held.
    struct Held: Sendable, Hashable {
        let id: Int64
        let kind: String
        let phone: String
        let userID: UserID
        let createdAtMilliseconds: Int64
        /// When it is tried again; nil for one that is set aside.
        let retryAtMilliseconds: Int64?
        let failureCount: Int
        let reason: String
        /// How many later events of the number wait behind it.
        let behindCount: Int
    }

    /// How many events one transaction changes.
    private static let batchMax = 500
    /// How long it may take: the relay that is waited for ends within its own limit of nine seconds.
    private static let limit = Duration.seconds(25)

    let database: PostgresClient
    let identifiers: IdentifierSource
    let clock: WallClock

    /// The oldest held events.
    func held(limit: Int) async throws -> [Held] {
        let rows = try await database.query(
            """
            SELECT o.id, o.kind, o.phone, o.user_id, o.created_at,
                CASE WHEN o.rejected_at IS NULL THEN o.retry_at END, o.failures, o.rejection, coalesce(w.count, 0)
            FROM outbox o LEFT JOIN (
                SELECT phone, count(*) AS count FROM outbox
                WHERE rejected_at IS NULL AND retry_at IS NULL GROUP BY phone
            ) AS w ON w.phone = o.phone
            WHERE o.rejected_at IS NOT NULL OR o.retry_at IS NOT NULL
            ORDER BY o.id LIMIT \(limit)
            """,
            deadline: .after(Self.limit)
        )
        return try rows.map { row in
            let (id, kind, phone, userID, createdAt, retryAt, failures, reason, behind) = try row.decode(
                Int64.self,
                String.self,
                String.self,
                PostgresUUID.self,
                PostgresTimestamp.self,
                PostgresTimestamp?.self,
                Int32.self,
                String?.self,
                Int64.self
            )
            return Held(
                id: id,
                kind: kind,
                phone: phone,
                userID: UserID(userID),
                createdAtMilliseconds: createdAt.milliseconds,
                retryAtMilliseconds: retryAt?.milliseconds,
                failureCount: Int(failures),
                reason: reason ?? "",
                behindCount: Int(behind)
            )
        }
    }

    /// Has held events told again, all of them if `ids` is nil, and gives the ids of those that were held.
    ///
    /// Behind each number's events goes one that says who has the number now. So an event that is told too late, because
    /// a version before let later ones of its number pass, doesn't have the last word.
    func requeue(_ ids: [Int64]?) async throws -> [Int64] {
        var requeued: [Int64] = []
        while true {
            let after = requeued.last ?? -1
            let batch = try await database.withTransaction(deadline: .after(Self.limit)) { transaction in
                try await lock(in: transaction)
                return try await release(ids, after: after, in: transaction)
            }
            requeued += batch
            if batch.count < Self.batchMax { return requeued }
        }
    }

    /// Forgets events that are set aside, and gives the ids of those that were. What waits behind them is told then.
    func discard(_ ids: [Int64]) async throws -> [Int64] {
        try await database.withTransaction(deadline: .after(Self.limit)) { transaction in
            try await lock(in: transaction)
            return try await transaction.execute(
                "DELETE FROM outbox WHERE id = ANY(\(ids)) AND rejected_at IS NOT NULL RETURNING id"
            ).map { try $0.decode(0, as: Int64.self) }
        }
    }

    private func lock(in transaction: PostgresTransaction) async throws {
        // A relay may hold it for as long as a delivery takes, which is longer than statements wait elsewhere.
        try await transaction.execute("SET LOCAL lock_timeout = '12s'")
        try await transaction.query("SELECT 1 FROM outbox_relay FOR UPDATE")
    }

    private func release(
        _ ids: [Int64]?,
        after: Int64,
        in transaction: PostgresTransaction
    ) async throws -> [Int64] {
        let rows = try await transaction.execute(
            """
            UPDATE outbox SET rejected_at = NULL, rejection = NULL, retry_at = NULL, failures = 0
            WHERE id IN (
                SELECT id FROM outbox
                WHERE (rejected_at IS NOT NULL OR retry_at IS NOT NULL) AND id > \(after)
                    AND (\(ids == nil) OR id = ANY(\(ids ?? [])))
                ORDER BY id LIMIT \(Self.batchMax)
            )
            RETURNING id, phone, user_id
            """
        )
        var released: [(id: Int64, phone: String, userID: PostgresUUID)] = []
        for row in rows {
            let (id, phone, userID) = try row.decode(Int64.self, String.self, PostgresUUID.self)
            released.append((id, phone, userID))
        }
        released.sort { $0.id < $1.id }
        let readable = released.filter { PhoneNumber(stored: $0.phone) != nil }
        let lastUsers = Dictionary(readable.map { ($0.phone, $0.userID) }) { _, last in last }
        try await restate(lastUsers, in: transaction)
        return released.map(\.id)
    }

    /// Adds who has each number now: its owner, or that the user of its last event hasn't.
    private func restate(_ lastUsers: [String: PostgresUUID], in transaction: PostgresTransaction) async throws {
        guard !lastUsers.isEmpty else { return }
        let phones = lastUsers.keys.sorted()
        // Until the commit, so that the order of ids is that of the number's changes.
        let rows = try await transaction.query(
            "SELECT phone, user_id FROM phones WHERE phone = ANY(\(phones)) ORDER BY phone FOR UPDATE"
        )
        var owners: [String: PostgresUUID] = [:]
        for row in rows {
            let (phone, userID) = try row.decode(String.self, PostgresUUID.self)
            owners[phone] = userID
        }
        let users = phones.compactMap { owners[$0] ?? lastUsers[$0] }
        let kinds = phones.map { owners[$0] == nil ? "released" : "claimed" }
        let eventIDs = phones.map { _ in identifiers.make(EventID.self).uuid }
        let now = PostgresTimestamp(milliseconds: clock.nowMilliseconds)
        try await transaction.execute(
            """
            INSERT INTO outbox (event_id, kind, phone, user_id, created_at)
            SELECT event_id, kind, phone, user_id, \(now)
            FROM unnest(\(eventIDs), \(kinds), \(phones), \(users)) AS event (event_id, kind, phone, user_id)
            """
        )
    }
}
