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

    /// The condition of SQL that a target isn't stopped. The name has letters, digits, dots, dashes and underscores, as the configuration
    /// demands.
    static func isTold(_ target: String) -> String {
        "EXISTS (SELECT FROM webhook_targets WHERE name = '\(target)' AND stopped_at IS NULL)"
    }

    /// The targets, and whether each is stopped.
    func stoppedWebhookTargets() async throws -> [(name: String, isStopped: Bool)] {
        let rows = try await database.query(
            "SELECT name, stopped_at IS NOT NULL FROM webhook_targets ORDER BY name",
            deadline: .after(Self.webhookStatementLimit)
        )
        return try rows.map { row in
            let (name, isStopped) = try row.decode(String.self, Bool.self)
            return (name, isStopped)
        }
    }

    /// Restarts stopped targets of these queues of work.
    func restartWebhookTargets(of queues: Set<String>) async throws {
        let names = queues.filter { $0.hasPrefix(WebhookWork.queuePrefix) }.map {
            String($0.dropFirst(WebhookWork.queuePrefix.count))
        }
        guard !names.isEmpty else { return }
        try await database.execute(
            "UPDATE webhook_targets SET stopped_at = NULL WHERE name = ANY(\(names.sorted())) AND stopped_at IS NOT NULL",
            deadline: .after(Self.webhookStatementLimit)
        )
    }

    // MARK: - Events

    /// Parks events of targets that no replica serves any more, once they have waited for as long as others are retried; at most
    /// `limit`, and returns how many.
    func parkForgotten(limit: Int, nowMilliseconds: Int64) async throws(PostgresError) -> Int {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        // Later than the workers that deliver park it.
        let triedMilliseconds = Int64(WebhookWork.triedFor / .milliseconds(1))
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - triedMilliseconds - 3_600_000)
        return try await database.execute(
            """
            WITH forgotten AS MATERIALIZED (
                SELECT id FROM work
                WHERE queue LIKE 'webhooks.%' AND parked_at IS NULL AND created_at <= \(before)
                    AND COALESCE(retried_at, created_at) <= \(before) AND due_at <= \(now) AND NOT EXISTS (
                        SELECT FROM webhook_targets WHERE 'webhooks.' || name = queue AND stopped_at IS NULL)
                LIMIT \(limit) FOR UPDATE SKIP LOCKED
            )
            UPDATE work SET parked_at = \(now), failure = COALESCE(failure, 'no replica serves this target')
            FROM forgotten WHERE work.id = forgotten.id
            """,
            deadline: .after(Self.webhookStatementLimit)
        ).affected
    }

    /// Deletes events that were parked long ago, at most `limit`, and returns how many.
    func forgetParked(limit: Int, nowMilliseconds: Int64) async throws(PostgresError) -> Int {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - Self.parkedMilliseconds)
        return try await database.execute(
            """
            DELETE FROM work WHERE id IN (
                SELECT id FROM work WHERE (queue LIKE 'webhooks.%' OR queue = \(LogoutWork.queueName)) AND parked_at <= \(before)
                ORDER BY parked_at, id LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        ).affected
    }
}
