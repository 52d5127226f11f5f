import Postgres
import RPC
import ServiceKit

/// What a person can do about the events of a program's outboxes that are held: those that are set aside, and those that wait to be
/// tried again.
///
/// Each change is made while no relay of that outbox works, so that none looks at what is being changed.
public struct OutboxAdmin: Sendable {
    /// How many events one transaction changes.
    private static let batchMax = 500
    /// How long it may take: the relay that is waited for ends within its own limit of nine seconds.
    private static let limit = Duration.seconds(25)

    private let places: [OutboxPlace]
    private let database: PostgresClient
    private let nowMilliseconds: @Sendable () -> Int64

    /// A desk.
    ///
    /// - Parameter nowMilliseconds: the time, in Unix milliseconds.
    public init(
        _ places: [OutboxPlace],
        database: PostgresClient,
        nowMilliseconds: @escaping @Sendable () -> Int64
    ) {
        self.places = places
        self.database = database
        self.nowMilliseconds = nowMilliseconds
    }

    /// Does what a person asks.
    ///
    /// - Returns: lines for people.
    /// - Throws: `OutboxCommandError` if a name is that of no event that is held; the others were dealt with.
    public func run(_ command: OutboxCommand) async throws -> [String] {
        switch command {
        case .list(let limit, let showsNumbers):
            var held: [HeldEvent] = []
            for place in places { held += try await self.held(place, limit: limit, showsNumbers) }
            if held.isEmpty { return ["nothing is held"] }
            held.sort { $0.createdAtMilliseconds < $1.createdAtMilliseconds }
            let now = nowMilliseconds()
            return held.prefix(limit).map { $0.line(nowMilliseconds: now) }
        case .show(let name, let showsNumbers):
            let event = try await held(try place(name.receiver), limit: 1, showsNumbers, only: name.rowID).first
            guard let event else { throw OutboxCommandError("no event \(name) is held") }
            return event.lines(nowMilliseconds: nowMilliseconds())
        case .release(nil):
            var count = 0
            for place in places { count += try await release(nil, of: place).count }
            return ["released \(count)"]
        case .release(let names?):
            return try await each(names, "held", "released") { try await release($0, of: $1) }
        case .discard(let names):
            return try await each(names, "set aside", "discarded") { try await discard($0, of: $1) }
        }
    }

    // MARK: - Reading

    private func held(
        _ place: OutboxPlace,
        limit: Int,
        _ showsNumbers: Bool,
        only rowID: Int64? = nil
    ) async throws -> [HeldEvent] {
        let (table, key) = (place.table, place.keyColumn)
        // One pass over what comes behind the oldest, however many are listed: no index has the keys of all that waits.
        let rows = try await database.query(
            """
            WITH held AS MATERIALIZED (
                SELECT * FROM \(unsafeSQL: table) o
                WHERE (o.rejected_at IS NOT NULL OR o.retry_at IS NOT NULL)\(unsafeSQL: place.isOurs("o"))
                    AND (\(rowID) IS NULL OR o.id = \(rowID))
                ORDER BY o.id LIMIT \(limit)
            ), later AS MATERIALIZED (
                SELECT id, \(unsafeSQL: key) AS key, retry_at FROM \(unsafeSQL: table) r
                WHERE r.id > (SELECT min(id) FROM held) AND r.rejected_at IS NULL\(unsafeSQL: place.isOurs("r"))
                ORDER BY r.id LIMIT \(HeldEvent.laterMax)
            ), behind AS (
                SELECT held.id, count(*) AS count FROM held
                JOIN later ON later.key = held.\(unsafeSQL: key) AND later.id > held.id AND later.retry_at IS NULL
                GROUP BY held.id
            )
            SELECT o.id, o.event_id::text, \(unsafeSQL: showsNumbers ? place.aboutInFull : place.about), o.created_at,
                CASE WHEN o.rejected_at IS NULL THEN o.retry_at END, o.failures, o.rejection, COALESCE(behind.count, 0),
                (SELECT count(*) FROM later)
            FROM held o LEFT JOIN behind ON behind.id = o.id ORDER BY o.id
            """,
            deadline: .after(Self.limit)
        )
        return try rows.map { try HeldEvent($0, receiver: place.receiver) }
    }

    private func place(_ receiver: String) throws(OutboxCommandError) -> OutboxPlace {
        guard let place = places.first(where: { $0.receiver == receiver }) else {
            let known = places.map(\.receiver).joined(separator: ", ")
            throw OutboxCommandError("unknown receiver \(receiver); expected one of \(known)")
        }
        return place
    }

    // MARK: - Changing

    /// Does something with events, receiver by receiver.
    private func each(
        _ names: [OutboxEventName],
        _ what: String,
        _ done: String,
        _ body: ([Int64], OutboxPlace) async throws -> [Int64]
    ) async throws -> [String] {
        var missing = Set(names)
        for (receiver, named) in Dictionary(grouping: missing, by: \.receiver) {
            let found = try await body(named.map(\.rowID).sorted(), try place(receiver))
            missing.subtract(found.map { OutboxEventName(receiver: receiver, rowID: $0) })
        }
        let count = Set(names).count - missing.count
        guard missing.isEmpty else {
            let list = missing.map(\.description).sorted().joined(separator: ", ")
            throw OutboxCommandError("no event \(list) is \(what); \(done) \(count) of the others")
        }
        return ["\(done) \(count)"]
    }

    /// Has held events told again, all of them if `ids` is nil, and gives the ids of those that were held.
    private func release(_ ids: [Int64]?, of place: OutboxPlace) async throws -> [Int64] {
        var released: [Int64] = []
        var after: Int64 = -1
        while true {
            let rows = try await database.query(
                """
                SELECT id FROM \(unsafeSQL: place.table) o
                WHERE (rejected_at IS NOT NULL OR retry_at IS NOT NULL) AND id > \(after)
                    AND (\(ids == nil) OR id = ANY(\(ids ?? [])))\(unsafeSQL: place.isOurs("o"))
                ORDER BY id LIMIT \(Self.batchMax)
                """,
                deadline: .after(Self.limit)
            )
            let batch = try rows.map { try $0.decode(0, as: Int64.self) }
            guard let last = batch.last else { return released }
            after = last
            try await place.restate(batch)
            released += try await change(
                place,
                """
                UPDATE \(unsafeSQL: place.table) SET rejected_at = NULL, rejection = NULL, retry_at = NULL, failures = 0
                WHERE id = ANY(\(batch)) AND (rejected_at IS NOT NULL OR retry_at IS NOT NULL) RETURNING id
                """
            )
        }
    }

    /// Forgets events that are set aside, and gives the ids of those that were. What waits behind them is told then.
    private func discard(_ ids: [Int64], of place: OutboxPlace) async throws -> [Int64] {
        let rows = try await database.query(
            """
            SELECT id FROM \(unsafeSQL: place.table) o
            WHERE id = ANY(\(ids)) AND rejected_at IS NOT NULL\(unsafeSQL: place.isOurs("o"))
            """,
            deadline: .after(Self.limit)
        )
        let aside = try rows.map { try $0.decode(0, as: Int64.self) }
        guard !aside.isEmpty else { return [] }
        try await place.restate(aside)
        return try await change(
            place,
            "DELETE FROM \(unsafeSQL: place.table) WHERE id = ANY(\(aside)) AND rejected_at IS NOT NULL RETURNING id"
        )
    }

    /// Changes rows while no relay works, and gives their ids.
    private func change(_ place: OutboxPlace, _ statement: Query) async throws -> [Int64] {
        try await database.withTransaction(deadline: .after(Self.limit)) { transaction in
            try await lock(place, in: transaction)
            return try await transaction.execute(statement).map { try $0.decode(0, as: Int64.self) }
        }
    }

    private func lock(_ place: OutboxPlace, in transaction: PostgresTransaction) async throws {
        // A relay may hold it for as long as a delivery takes, which is longer than statements wait elsewhere.
        try await transaction.execute("SET LOCAL lock_timeout = '12s'")
        try await transaction.query(
            "SELECT 1 FROM \(unsafeSQL: place.table)_relay r WHERE true\(unsafeSQL: place.isOurs("r")) FOR UPDATE"
        )
    }
}
