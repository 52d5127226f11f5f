import Postgres
import ProfileDomain

/// What a user's row counts of phone numbers.
struct PhoneCounts: Sendable {
    /// Numbers of others that were tried.
    let tries: TryLimit.Count?
    /// Numbers that were taken.
    let claims: TryLimit.Count?

    /// How long the user must wait before the next number; nil if they may have it now.
    func waitMilliseconds(_ limits: ProfileLimits, nowMilliseconds: Int64) -> Int64? {
        let waits = [
            limits.tries.waitMilliseconds(after: tries, nowMilliseconds: nowMilliseconds),
            limits.claims.waitMilliseconds(after: claims, nowMilliseconds: nowMilliseconds),
        ]
        return waits.compactMap(\.self).max()
    }
}

extension TryLimit.Count? {
    /// The count that two columns hold; nil before the first.
    static func stored(_ tries: Int32, _ since: PostgresTimestamp?) -> TryLimit.Count? {
        since.map { TryLimit.Count(windowStartMilliseconds: $0.milliseconds, tries: Int(tries)) }
    }
}
