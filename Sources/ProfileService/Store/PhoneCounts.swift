import Postgres
import ProfileDomain

/// A user's counts of phone numbers, and when the user last chose one.
struct PhoneCounts: Sendable {
    /// Numbers of others that were tried.
    let tries: TryLimit.Count?
    /// Numbers that were taken.
    let claims: TryLimit.Count?
    /// When the user last saved a number, gave theirs up, or lost it to an operator, in Unix milliseconds; nil if never, as far as is
    /// known.
    let chosenAtMilliseconds: Int64?

    /// The columns, in the order in which ``init(_:from:)`` takes them.
    static let columns = "phone_tries, phone_tries_since, phone_claims, phone_claims_since, phone_chosen_at"

    /// The counts of a row that has ``columns`` from a place on.
    init(_ row: Row, from first: Int) throws(PostgresError) {
        tries = .stored(try row.decode(first), try row.decode(first + 1))
        claims = .stored(try row.decode(first + 2), try row.decode(first + 3))
        chosenAtMilliseconds = try row.decode(first + 4, as: PostgresTimestamp?.self)?.milliseconds
    }

    /// How long the user must wait before the next number; nil if they may take it now.
    func waitMilliseconds(_ limits: ProfileLimits, nowMilliseconds: Int64) -> Int64? {
        let waits = [
            limits.tries.waitMilliseconds(after: tries, nowMilliseconds: nowMilliseconds),
            limits.claims.waitMilliseconds(after: claims, nowMilliseconds: nowMilliseconds),
        ]
        return waits.compactMap(\.self).max()
    }
}

extension TryLimit.Count? {
    /// The count in two columns; nil before the first.
    static func stored(_ tries: Int32, _ since: PostgresTimestamp?) -> TryLimit.Count? {
        since.map { TryLimit.Count(windowStartMilliseconds: $0.milliseconds, tries: Int(tries)) }
    }
}
