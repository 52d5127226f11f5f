import Postgres
import ServiceKit

/// An event of an outbox that is held, as a person is shown it.
struct HeldEvent: Sendable, Hashable {
    let name: OutboxEventName
    /// By which the receiver applies it once, a UUID.
    let eventID: String
    let about: String
    let createdAtMilliseconds: Int64
    /// When it is tried again; nil for one that is set aside.
    let retryAtMilliseconds: Int64?
    let failureCount: Int
    let reason: String
    /// How many events that came later are looked at, whatever they are about: millions may wait.
    static let laterMax = 10_000

    /// How many of those that were looked at wait behind it.
    let behindCount: Int
    /// Whether there may be more than were looked at.
    let areMoreBehind: Bool

    /// An event of the columns that the desk reads.
    init(_ row: Row, receiver: String) throws {
        let (id, eventID, about, createdAt, retryAt, failures, reason, behind, lookedAt) = try row.decode(
            Int64.self,
            String.self,
            String.self,
            PostgresTimestamp.self,
            PostgresTimestamp?.self,
            Int32.self,
            String?.self,
            Int64.self,
            Int64.self
        )
        name = OutboxEventName(receiver: receiver, rowID: id)
        self.eventID = eventID
        self.about = about
        createdAtMilliseconds = createdAt.milliseconds
        retryAtMilliseconds = retryAt?.milliseconds
        failureCount = Int(failures)
        self.reason = reason ?? ""
        behindCount = Int(behind)
        areMoreBehind = lookedAt >= Self.laterMax
    }

    /// On one line.
    func line(nowMilliseconds now: Int64) -> String {
        "\(name)  \(about)  \(Self.seconds(now - createdAtMilliseconds)) old  \(state(now))  \(reason)  "
            + "failures: \(failureCount)  behind it: \(behind)"
    }

    /// One line for each thing that is known.
    func lines(nowMilliseconds now: Int64) -> [String] {
        [
            "event: \(name)", "about: \(about)", "id for the receiver: \(eventID)",
            "age: \(Self.seconds(now - createdAtMilliseconds))", "state: \(state(now))", "reason: \(reason)",
            "failures: \(failureCount)", "behind it: \(behind)",
        ]
    }

    private var behind: String { areMoreBehind ? "\(behindCount) or more" : "\(behindCount)" }

    private func state(_ now: Int64) -> String {
        retryAtMilliseconds.map { "again in \(Self.seconds($0 - now))" } ?? "set aside"
    }

    private static func seconds(_ milliseconds: Int64) -> String { "\(max(0, milliseconds / 1_000)) s" }
}
