/// A PostgreSQL snapshot: it defines which transactions' changes are visible. A pure value.
///
/// It sees the transactions before ``upper``, except those from ``horizon`` on that were in progress.
struct DatabaseSnapshot: Sendable, Hashable {
    /// The oldest transaction that was in progress: all before it have ended.
    let horizon: UInt64
    /// The first transaction that had not begun, or was not known to have ended.
    let upper: UInt64
    /// The transactions between them that were in progress, ascending.
    let underWay: [UInt64]

    /// A snapshot; nil if the numbers are not a valid one.
    init?(horizon: UInt64, upper: UInt64, underWay: [UInt64]) {
        guard horizon > 0, horizon <= upper, upper <= UInt64(Int64.max),
            underWay.allSatisfy({ horizon <= $0 && $0 < upper }),
            zip(underWay, underWay.dropFirst()).allSatisfy({ $0 < $1 })
        else { return nil }
        self.horizon = horizon
        self.upper = upper
        self.underWay = underWay
    }

    /// A snapshot that sees the transactions before a number, which is from 1 to Int64.max.
    init(horizon: UInt64) { (self.horizon, upper, underWay) = (horizon, horizon, []) }

    /// Parses PostgreSQL's text: `horizon:upper:in,progress`.
    init?(text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let horizon = UInt64(parts[0]), let upper = UInt64(parts[1]) else { return nil }
        let underWay = parts[2].split(separator: ",").map { UInt64($0) }
        guard !underWay.contains(nil) else { return nil }
        self.init(horizon: horizon, upper: upper, underWay: underWay.compactMap { $0 })
    }

    /// Returns whether it sees what a transaction changed, if that was not rolled back.
    func sees(_ transaction: UInt64) -> Bool { transaction < upper && !underWay.contains(transaction) }

    /// The text that PostgreSQL reads.
    var text: String { "\(horizon):\(upper):\(underWay.map(String.init).joined(separator: ","))" }
}
