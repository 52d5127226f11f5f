import RPC

/// Why connections of a loop failed. An unavailable database is reported once in a while, not with each attempt.
struct ConnectionFailures {
    /// The shortest time between two reports.
    static let silence: Duration = .seconds(10)

    /// The reason of the last failure.
    private(set) var last = "not connected yet"
    private let report: (@Sendable (String) -> Void)?
    private var silentUntil: Deadline?

    /// - Parameter report: gets the reason of a failure; nil if nobody wants it.
    init(report: (@Sendable (String) -> Void)?) { self.report = report }

    /// Notes a failure.
    mutating func note(_ reason: String, isReported: Bool) {
        last = reason
        guard isReported, let report else { return }
        let now = Deadline.now()
        if let silentUntil, now < silentUntil { return }
        silentUntil = .after(Self.silence)
        report(reason)
    }
}
