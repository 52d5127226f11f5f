import Postgres
import ServiceKit

/// An item that is parked or waits, as an operator sees it.
struct HeldWork: Sendable, Hashable {
    /// Which items an operator means.
    struct Selection {
        /// Those of this queue; nil for all.
        var queue: String?
        /// Those with these names; nil for all.
        var names: [WorkName]?
        /// Parked items alone.
        var isParkedOnly = false
        /// Also those that didn't fail yet.
        var includesWaiting = false
    }

    /// How many later items are looked at: millions may wait.
    static let laterMax = 10_000

    private let id: Int64
    private let queue: String
    /// Of a phone number the last digits, unless all are wanted.
    private let key: String?
    /// A UUID, by which the receiver applies the item once.
    private let eventID: String
    private let userID: String?
    /// A JSON object.
    private let data: String
    private let createdAtMilliseconds: Int64
    private let nextAtMilliseconds: Int64?
    private let isParked: Bool
    private let tries: Int32
    private let failure: String?
    /// How many of the later items that were looked at wait behind it.
    private let behindCount: Int
    /// Whether there may be more than were looked at.
    private let areMoreBehind: Bool

    init(_ row: Row) throws {
        let (
            id, queue, key, eventID, userID, data, createdAt, nextAt, parkedAt, tries, failure, behind, lookedAt
        ) = try row.decode(
            Int64.self,
            String.self,
            String?.self,
            String.self,
            String?.self,
            String.self,
            PostgresTimestamp.self,
            PostgresTimestamp?.self,
            PostgresTimestamp?.self,
            Int32.self,
            String?.self,
            Int64.self,
            Int64.self
        )
        self.id = id
        self.queue = queue
        self.key = key
        self.eventID = eventID
        self.userID = userID
        self.data = data
        createdAtMilliseconds = createdAt.milliseconds
        nextAtMilliseconds = nextAt?.milliseconds
        isParked = parkedAt != nil
        self.tries = tries
        self.failure = failure
        behindCount = Int(behind)
        areMoreBehind = lookedAt >= Self.laterMax
    }

    /// The item in one line.
    func line(nowMilliseconds now: Int64) -> String {
        "\(id)  \(queue)  \(about)  \(Self.seconds(now - createdAtMilliseconds)) old  \(state(now))  tries: \(tries)"
            + (behindCount > 0 ? "  behind it: \(behind)" : "") + (failure.map { "  \($0)" } ?? "")
    }

    /// All details of the item.
    func lines(nowMilliseconds now: Int64) -> [String] {
        [
            "work      \(id)", "queue     \(queue)", "key       \(key ?? "none")", "event     \(eventID)",
            "user      \(userID ?? "none")", "data      \(data)",
            "age       \(Self.seconds(now - createdAtMilliseconds))", "state     \(state(now))", "tries     \(tries)",
            "failure   \(failure ?? "none")", "behind it \(behind)", "",
        ]
    }

    private var about: String { [data == "{}" ? nil : data, userID].compactMap { $0 }.joined(separator: " of ") }

    private var behind: String { areMoreBehind ? "\(behindCount) or more" : "\(behindCount)" }

    private func state(_ now: Int64) -> String {
        if isParked { return "parked" }
        return nextAtMilliseconds.map { "next try in \(Self.seconds($0 - now))" } ?? "waits"
    }

    private static func seconds(_ milliseconds: Int64) -> String { "\(max(0, milliseconds / 1_000)) s" }
}

extension Query.StringInterpolation {
    /// The condition, about the row `w`, that a selection means.
    mutating func appendInterpolation(_ which: HeldWork.Selection) {
        var numbers: [Int64] = []
        var events: [String] = []
        for name in which.names ?? [] {
            switch name {
            case .number(let number): numbers.append(number)
            case .event(let id): events.append(id)
            }
        }
        appendLiteral(
            "(\(which.isParkedOnly ? "w.parked_at IS NOT NULL" : which.includesWaiting ? "true" : "w.failure IS NOT NULL")"
        )
        appendLiteral(" AND (")
        appendInterpolation(which.queue)
        appendLiteral(" IS NULL OR w.queue = ")
        appendInterpolation(which.queue)
        appendLiteral(")")
        if which.names != nil {
            appendLiteral(" AND (w.id = ANY(")
            appendInterpolation(numbers)
            appendLiteral(") OR w.event_id = ANY(")
            appendInterpolation(events)
            appendLiteral("::uuid[]))")
        }
        appendLiteral(")")
    }
}
