import IdentityDomain
import Postgres
import RPC

extension IdentityStore {
    /// The limit of a statement about webhooks.
    static let webhookStatementLimit: Duration = .seconds(30)
    /// How long a target is known after the last replica that has it in its configuration was seen.
    static let webhookTargetMilliseconds: Int64 = 3_600_000
    /// How long parked events are kept.
    static let parkedMilliseconds: Int64 = 30 * 86_400_000

    // MARK: - Targets

    /// Records that a target receives events of its types from now on.
    ///
    /// - Parameter isNew: whether this is its first registration since the start. Only then its types are taken, so that of two replicas
    ///   with different configurations the one that was started last prevails, and a target that was stopped continues.
    func register(_ target: WebhookTarget, isNew: Bool, nowMilliseconds: Int64) async throws(PostgresError) {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        try await database.execute(
            """
            INSERT INTO webhook_targets AS known (name, types, seen_at)
            VALUES (\(target.name), \(target.typeNames), \(now))
            ON CONFLICT (name) DO UPDATE SET seen_at = EXCLUDED.seen_at,
                types = CASE WHEN \(isNew) THEN EXCLUDED.types ELSE known.types END,
                stopped_at = CASE WHEN \(isNew) THEN NULL ELSE known.stopped_at END
            """,
            deadline: .after(Self.webhookStatementLimit)
        )
    }

    /// Stops a target for all replicas, until a replica starts or an event of it is replayed.
    func stop(_ target: WebhookTarget, nowMilliseconds: Int64) async throws(PostgresError) {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        try await database.execute(
            "UPDATE webhook_targets SET stopped_at = \(now) WHERE name = \(target.name) AND stopped_at IS NULL",
            deadline: .after(Self.webhookStatementLimit)
        )
    }

    /// Forgets targets that no replica has had in its configuration for a while: from then on no row is written for them.
    func forgetWebhookTargets(nowMilliseconds: Int64) async throws(PostgresError) -> Int {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - Self.webhookTargetMilliseconds)
        return try await database.execute("DELETE FROM webhook_targets WHERE seen_at <= \(before)").affected
    }

    // MARK: - Deliveries

    /// Claims a target's due deliveries, those due longest first, for a while: until then no other worker takes them, and after that the
    /// worker that claimed them is gone.
    func claimWebhooks(
        for target: WebhookTarget,
        limit: Int,
        leaseMilliseconds: Int64,
        nowMilliseconds: Int64
    ) async throws(PostgresError) -> [WebhookMessage] {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let leased = PostgresTimestamp(milliseconds: nowMilliseconds + leaseMilliseconds)
        let rows = try await database.execute(
            """
            WITH due AS MATERIALIZED (
                SELECT event_id, target FROM webhook_deliveries
                WHERE target = \(target.name) AND parked_at IS NULL AND next_at <= \(now)
                    AND EXISTS (SELECT FROM webhook_targets WHERE name = \(target.name) AND stopped_at IS NULL)
                ORDER BY next_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
            )
            UPDATE webhook_deliveries told SET tries = tries + 1, next_at = \(leased)
            FROM due WHERE told.event_id = due.event_id AND told.target = due.target
            RETURNING told.event_id, type, to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), data::text,
                tries, tried_from
            """,
            deadline: .after(Self.webhookStatementLimit)
        )
        var messages: [WebhookMessage] = []
        for row in rows {
            let (eventID, type, occurredAt, data, tries, triedFrom) = try row.decode(
                PostgresUUID.self,
                String.self,
                String.self,
                String.self,
                Int32.self,
                PostgresTimestamp.self
            )
            messages.append(
                WebhookMessage(
                    eventID: eventID,
                    target: target.name,
                    type: type,
                    occurredAt: occurredAt,
                    data: data,
                    tries: tries,
                    triedFrom: triedFrom
                )
            )
        }
        return messages
    }

    /// Forgets a delivered event.
    func forgetDelivered(_ message: WebhookMessage) async throws(PostgresError) {
        try await database.execute(
            "DELETE FROM webhook_deliveries WHERE event_id = \(message.eventID) AND target = \(message.target)",
            deadline: .after(Self.webhookStatementLimit)
        )
    }

    /// Postpones a failed delivery, or parks it. Does nothing if another worker has tried it since.
    ///
    /// - Parameter nextMilliseconds: when it is tried again; nil if it is parked.
    func postpone(
        _ message: WebhookMessage,
        failure: String,
        nextMilliseconds: Int64?,
        nowMilliseconds: Int64
    ) async throws(PostgresError) {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let next = nextMilliseconds.map { PostgresTimestamp(milliseconds: $0) }
        try await database.execute(
            """
            UPDATE webhook_deliveries SET failure = \(failure), next_at = COALESCE(\(next), next_at),
                parked_at = CASE WHEN \(next) IS NULL THEN \(now) END
            WHERE event_id = \(message.eventID) AND target = \(message.target) AND tries = \(message.tries)
                AND parked_at IS NULL
            """,
            deadline: .after(Self.webhookStatementLimit)
        )
    }

    /// Parks deliveries to targets that no replica serves any more, once they have waited for as long as others are retried; at most
    /// `limit`, and returns how many.
    func parkForgotten(limit: Int, nowMilliseconds: Int64) async throws(PostgresError) -> Int {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        // Later than the workers that deliver park it.
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - WebhookPauses.triedMilliseconds - 3_600_000)
        return try await database.execute(
            """
            WITH forgotten AS MATERIALIZED (
                SELECT event_id, target FROM webhook_deliveries
                WHERE parked_at IS NULL AND tried_from <= \(before) AND next_at <= \(now) AND NOT EXISTS (
                    SELECT FROM webhook_targets WHERE name = target AND stopped_at IS NULL)
                LIMIT \(limit) FOR UPDATE SKIP LOCKED
            )
            UPDATE webhook_deliveries told SET parked_at = \(now), failure = COALESCE(failure, 'nobody tells this target')
            FROM forgotten WHERE told.event_id = forgotten.event_id AND told.target = forgotten.target
            """,
            deadline: .after(Self.webhookStatementLimit)
        ).affected
    }

    /// Forgets events that were parked long ago, at most `limit`, and returns how many.
    func forgetParked(limit: Int, nowMilliseconds: Int64) async throws(PostgresError) -> Int {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - Self.parkedMilliseconds)
        return try await database.execute(
            """
            DELETE FROM webhook_deliveries WHERE (event_id, target) IN (
                SELECT event_id, target FROM webhook_deliveries WHERE parked_at <= \(before)
                ORDER BY parked_at, event_id LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        ).affected
    }
}
