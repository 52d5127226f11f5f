import Models
import Postgres

/// What a person asks about the outbox, through `profile outbox`.
public enum OutboxCommand: Sendable, Hashable {
    /// Shows the oldest held events; whole phone numbers only if asked for.
    case list(limit: Int, showsNumbers: Bool)
    /// Has held events told again; all of them if nil.
    case requeue([Int64]?)
    /// Forgets events that are set aside.
    case discard([Int64])

    /// Does it.
    ///
    /// - Returns: lines for people.
    /// - Throws: `OutboxCommandError` if an id names no event that is held; the others were dealt with.
    func run(on database: PostgresClient, clock: WallClock = .system) async throws -> [String] {
        let desk = OutboxDesk(database: database, identifiers: IdentifierSource(clock: clock), clock: clock)
        switch self {
        case .list(let limit, let showsNumbers):
            let held = try await desk.held(limit: limit)
            if held.isEmpty { return ["nothing is held"] }
            let now = clock.nowMilliseconds
            return held.map { Self.line($0, now, showsNumbers: showsNumbers) }
        case .requeue(let ids):
            let done = try await desk.requeue(ids)
            try Self.requireAll(ids ?? [], done, "held")
            return ["requeued \(done.count)"]
        case .discard(let ids):
            let done = try await desk.discard(ids)
            try Self.requireAll(ids, done, "set aside")
            return ["discarded \(done.count)"]
        }
    }

    private static func requireAll(_ ids: [Int64], _ done: [Int64], _ what: String) throws(OutboxCommandError) {
        let missing = Set(ids).subtracting(done).sorted()
        guard missing.isEmpty else {
            let list = missing.map { "\($0)" }.joined(separator: ", ")
            throw OutboxCommandError("no event with id \(list) is \(what); \(done.count) of the others done")
        }
    }

    private static func line(_ held: OutboxDesk.Held, _ now: Int64, showsNumbers: Bool) -> String {
        let number = showsNumbers ? "+\(held.phone)" : "…\(held.phone.suffix(3))"
        let state = held.retryAtMilliseconds.map { "again in \(seconds($0 - now))" } ?? "set aside"
        return """
            \(held.id)  \(held.kind) \(number) by \(held.userID)  \(seconds(now - held.createdAtMilliseconds)) old  \
            \(state)  \(held.reason)  failures: \(held.failureCount)  behind it: \(held.behindCount)
            """
    }

    private static func seconds(_ milliseconds: Int64) -> String { "\(max(0, milliseconds / 1_000)) s" }
}

/// Why a command about the outbox was not done whole: one line for people.
public struct OutboxCommandError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line.
    public let description: String

    init(_ description: String) { self.description = description }
}
