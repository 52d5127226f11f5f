import Postgres
import RPC

/// The backlog of a target.
struct WebhookBacklog: Sendable, Hashable {
    /// How many events are still to be delivered; counting stops past ten thousand, and so for ``parked``.
    var waiting: Int64 = 0
    /// How long the oldest of them has been tried, in seconds.
    var oldestSeconds: Double = 0
    /// How many events are parked.
    var parked: Int64 = 0
    /// Whether the target answered that it is gone.
    var isStopped = false
}

/// An event that was not delivered to a target yet, for an operator.
struct HeldWebhook: Sendable, Hashable {
    let eventID: String
    let target: String
    let type: String
    let occurredAt: String
    let data: String
    let tries: Int32
    let failure: String?
    let parkedAt: String?
    let nextAt: String
}

/// The events that an operator selects.
struct WebhookSelection: Sendable, Hashable {
    /// Those with these ids; nil for all.
    var eventIDs: [PostgresUUID]?
    /// Those of this target; nil for all.
    var target: String?
}

extension IdentityStore {
    private static let countedMax = 10_001
    /// The most events that one transaction replays.
    private static let replayedTogetherMax = 1_000

    /// The backlog of a target.
    func webhookBacklog(of target: String, nowMilliseconds: Int64) async throws -> WebhookBacklog {
        let row = try await database.query(
            """
            -- In an order, so that an index is read up to the bound, and never the table.
            SELECT (SELECT count(*) FROM (SELECT FROM webhook_deliveries
                    WHERE target = \(target) AND parked_at IS NULL ORDER BY tried_from LIMIT \(Self.countedMax)) counted),
                (SELECT tried_from FROM webhook_deliveries WHERE target = \(target) AND parked_at IS NULL
                    ORDER BY tried_from LIMIT 1),
                (SELECT count(*) FROM (SELECT FROM webhook_deliveries
                    WHERE target = \(target) AND parked_at IS NOT NULL ORDER BY parked_at LIMIT \(Self.countedMax)) counted),
                EXISTS (SELECT FROM webhook_targets WHERE name = \(target) AND stopped_at IS NOT NULL)
            """,
            deadline: .after(Self.webhookStatementLimit)
        ).first
        guard let row else { return WebhookBacklog() }
        let (waiting, oldest, parked, isStopped) = try row.decode(
            Int64.self,
            PostgresTimestamp?.self,
            Int64.self,
            Bool.self
        )
        return WebhookBacklog(
            waiting: waiting,
            oldestSeconds: oldest.map { max(0, Double(nowMilliseconds - $0.milliseconds) / 1000) } ?? 0,
            parked: parked,
            isStopped: isStopped
        )
    }

    /// Undelivered events: parked ones, parked longest ago first, or waiting ones, oldest first.
    func heldWebhooks(_ which: WebhookSelection, areParked: Bool?, limit: Int) async throws -> [HeldWebhook] {
        let form = #"'YYYY-MM-DD"T"HH24:MI:SS"Z"'"#
        let rows = try await database.query(
            """
            SELECT event_id::text, target, type, to_char(occurred_at AT TIME ZONE 'UTC', \(unsafeSQL: form)), data::text, tries,
                failure, to_char(parked_at AT TIME ZONE 'UTC', \(unsafeSQL: form)),
                to_char(next_at AT TIME ZONE 'UTC', \(unsafeSQL: form))
            FROM webhook_deliveries
            WHERE \(unsafeSQL: areParked.map { $0 ? "parked_at IS NOT NULL" : "parked_at IS NULL" } ?? "true")
                AND (\(which.eventIDs == nil) OR event_id = ANY (\(which.eventIDs ?? [])))
                AND (\(which.target) IS NULL OR target = \(which.target))
            ORDER BY \(unsafeSQL: areParked == true ? "parked_at, event_id" : "event_id, target") LIMIT \(limit)
            """,
            deadline: .after(Self.webhookStatementLimit)
        )
        return try rows.map { row in
            let (eventID, target, type, occurredAt, data, tries, failure, parkedAt, nextAt) = try row.decode(
                String.self,
                String.self,
                String.self,
                String.self,
                String.self,
                Int32.self,
                String?.self,
                String?.self,
                String.self
            )
            return HeldWebhook(
                eventID: eventID,
                target: target,
                type: type,
                occurredAt: occurredAt,
                data: data,
                tries: tries,
                failure: failure,
                parkedAt: parkedAt,
                nextAt: nextAt
            )
        }
    }

    /// Retries parked events from now on, and restarts their stopped targets. Events that are parked meanwhile stay.
    ///
    /// - Returns: the number of events.
    func replayWebhooks(_ which: WebhookSelection, nowMilliseconds: Int64) async throws -> Int {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        var count = 0
        while true {
            let replayed = try await replaySome(which, now)
            count += replayed
            if replayed < Self.replayedTogetherMax { return count }
        }
    }

    private func replaySome(_ which: WebhookSelection, _ now: PostgresTimestamp) async throws -> Int {
        let rows = try await database.execute(
            """
            WITH picked AS MATERIALIZED (
                SELECT event_id, target FROM webhook_deliveries
                WHERE parked_at <= \(now) AND (\(which.eventIDs == nil) OR event_id = ANY (\(which.eventIDs ?? [])))
                    AND (\(which.target) IS NULL OR target = \(which.target))
                ORDER BY parked_at, event_id LIMIT \(Self.replayedTogetherMax) FOR UPDATE
            ), going_on AS (
                UPDATE webhook_targets SET stopped_at = NULL
                WHERE stopped_at IS NOT NULL AND name IN (SELECT target FROM picked)
            )
            UPDATE webhook_deliveries told SET parked_at = NULL, failure = NULL, tries = 0, tried_from = \(now), next_at = \(now)
            FROM picked WHERE told.event_id = picked.event_id AND told.target = picked.target
            """,
            deadline: .after(Self.webhookStatementLimit)
        )
        return rows.affected
    }
}
