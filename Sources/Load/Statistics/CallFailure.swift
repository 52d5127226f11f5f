/// Why a call failed, for the counts.
public struct CallFailure: Error, Sendable, Hashable {
    /// The status: gRPC's name, such as `UNAVAILABLE`, or HTTP's number.
    public let code: String
    /// The stable reason, such as `SESSION_REVOKED`; otherwise the transport's message.
    public let reason: String

    /// The maximum length of a reason.
    static let reasonLengthMax = 120

    /// A failure. The reason becomes one line, and is truncated if it is too long.
    public init(code: String, reason: String) {
        self.code = code
        self.reason = String(reason.map { $0.isNewline ? " " : $0 }.prefix(Self.reasonLengthMax))
    }

    /// Whether an app would refresh its tokens now and repeat the call.
    var asksForRefresh: Bool { reason == "ACCESS_TOKEN_EXPIRED" }

    /// Whether the session has ended, so that an app would ask its user to sign in again.
    var endsSession: Bool { !asksForRefresh && (code == "UNAUTHENTICATED" || code == "401") }
}

/// The number of failures by code and reason.
public struct FailureCounts: Sendable, Hashable {
    /// The maximum of different failures that are counted separately.
    static let kindsMax = 100
    private static let other = CallFailure(code: "other", reason: "other errors")

    private(set) var counts: [CallFailure: Int] = [:]

    /// All together.
    public private(set) var total = 0

    /// No failures.
    public init() {}

    /// Counts a failure.
    public mutating func add(_ failure: CallFailure, count: Int = 1) {
        let isKnown = counts[failure] != nil || counts.count < Self.kindsMax
        counts[isKnown ? failure : Self.other, default: 0] += count
        total += count
    }

    /// Adds the counts of another value.
    public mutating func add(_ other: FailureCounts) {
        for (failure, count) in other.counts { add(failure, count: count) }
    }

    /// The most frequent first; equally frequent ones by code and reason.
    public var sorted: [(failure: CallFailure, count: Int)] {
        counts.map { (failure: $0.key, count: $0.value) }.sorted { left, right in
            (-left.count, left.failure.code, left.failure.reason)
                < (-right.count, right.failure.code, right.failure.reason)
        }
    }
}
