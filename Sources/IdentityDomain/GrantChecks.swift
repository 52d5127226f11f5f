/// Decides what follows from checks of the tokens of one app at one provider: whether those whom the provider refused are signed out, and
/// whether checks go on. One wrong key file must not sign everybody out.
///
/// Checks are asked in batches, and a batch is judged as a whole before anything follows from it. Running → stopped, with a
/// reason and a time → one check as a probe, or a batch where too many were refused → running. A value without clock.
public struct GrantChecks: Sendable, Hashable {
    /// What a check came to.
    public enum Answer: Sendable, Hashable, CaseIterable {
        /// The provider takes the token.
        case good
        /// It refuses it: `invalid_grant`.
        case refused
        /// It doesn't take us.
        case notConfigured
        /// It didn't answer, or says that it can't.
        case unavailable
    }

    /// Why checks are stopped.
    public enum StopReason: String, Sendable, Hashable, CaseIterable {
        /// The provider doesn't take us.
        case notConfigured = "not_configured"
        /// It doesn't answer.
        case unavailable = "unavailable"
        /// It refused more than can be true.
        case refusals = "refusals"

        /// For how long, in milliseconds.
        public var milliseconds: Int64 {
            switch self {
            case .notConfigured: 3_600_000
            case .unavailable: 900_000
            case .refusals: GrantChecks.windowMilliseconds
            }
        }
    }

    /// For how long checks and refusals are counted together, in milliseconds.
    public static let windowMilliseconds: Int64 = 86_400_000
    /// How many may be refused in a window however few were checked.
    public static let refusedAtAnyRateMax: Int64 = 4
    /// How much of a batch may go without an answer before checks stop, in percent.
    public static let unansweredPercentMax = 5

    /// When the window began, in Unix milliseconds.
    public private(set) var windowBeganAt: Int64
    /// How many were checked in it.
    public private(set) var checked: Int64
    /// How many of those were refused, and what it takes followed from it.
    public private(set) var refused: Int64
    /// Why checks are stopped or were stopped last; nil once a batch was good.
    public private(set) var stopReason: StopReason?
    /// Until when, in Unix milliseconds.
    public private(set) var stoppedUntil: Int64

    /// Checks as they were left.
    public init(windowBeganAt: Int64, checked: Int64, refused: Int64, stopReason: StopReason?, stoppedUntil: Int64) {
        self.windowBeganAt = windowBeganAt
        self.checked = checked
        self.refused = refused
        self.stopReason = stopReason
        self.stoppedUntil = stoppedUntil
    }

    /// Nothing was checked yet.
    public init(nowMilliseconds: Int64) {
        self.init(windowBeganAt: nowMilliseconds, checked: 0, refused: 0, stopReason: nil, stoppedUntil: 0)
    }

    /// How many may be checked now: none while they are stopped, and one after a stop for which the provider need only be
    /// asked again.
    public func batch(of most: Int, nowMilliseconds: Int64) -> Int {
        guard let stopReason else { return most }
        if nowMilliseconds < stoppedUntil { return 0 }
        return stopReason == .refusals ? most : min(most, 1)
    }

    /// Judges a batch.
    ///
    /// - Parameter refusedPercentMax: how many percent of a window's checks may be refused, beyond ``refusedAtAnyRateMax``.
    /// - Returns: whether those whom the provider refused are to be signed out.
    public mutating func judge(_ answers: [Answer], refusedPercentMax: Int, nowMilliseconds: Int64) -> Bool {
        guard !answers.isEmpty else { return false }
        func count(_ wanted: Answer) -> Int64 { Int64(answers.count { $0 == wanted }) }
        // A clock that was set back ends the window as well, or it might last for years.
        if nowMilliseconds < windowBeganAt || nowMilliseconds >= windowBeganAt + Self.windowMilliseconds {
            (windowBeganAt, checked, refused) = (nowMilliseconds, 0, 0)
        }
        if count(.notConfigured) > 0 { return stop(.notConfigured, nowMilliseconds) }
        if count(.unavailable) * 100 > Int64(answers.count * Self.unansweredPercentMax) {
            return stop(.unavailable, nowMilliseconds)
        }
        let (allChecked, allRefused) = (checked + count(.good) + count(.refused), refused + count(.refused))
        if allRefused > Self.refusedAtAnyRateMax, allRefused * 100 > allChecked * Int64(refusedPercentMax) {
            return stop(.refusals, nowMilliseconds)
        }
        (checked, refused, stopReason) = (allChecked, allRefused, nil)
        return true
    }

    private mutating func stop(_ reason: StopReason, _ now: Int64) -> Bool {
        stopReason = reason
        stoppedUntil = now + reason.milliseconds
        return false
    }
}
