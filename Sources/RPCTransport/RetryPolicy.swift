import RPC

/// When a channel tries a failed call again (gRFC A6). A pure value: chance is passed in.
///
/// It is for calls of idempotent methods that have received nothing of their answer. Calls that the server certainly
/// did not process are tried again whatever their method: see `ChannelConfiguration.transparentRetriesMax`.
public struct RetryPolicy: Sendable, Hashable {
    /// Attempts of one call, including the first. 1 for no retries.
    public var attemptsMax = 4
    /// The wait before the first retry, with a jitter of 20 % either way.
    public var backoffFirst: Duration = .milliseconds(50)
    /// The longest wait before a retry, with the same jitter.
    public var backoffMax: Duration = .seconds(1)
    /// The factor from each wait to the next.
    public var backoffMultiplier = 2.0
    /// The statuses that are tried again.
    public var codes: Set<Status.Code> = [.unavailable]
    /// The budget of the channel: failed attempts take one token each, and calls are tried again only while more than
    /// half of them are left.
    public var tokensMax = 100
    /// What a successful call gives back, in thousandths of a token.
    public var tokenRatioThousandths = 100

    /// The default policy.
    public init() {}

    /// The longest wait that a server can ask for with `grpc-retry-pushback-ms`.
    static let pushbackMax: Duration = .seconds(600)

    /// What a server says about retries in `grpc-retry-pushback-ms`.
    enum Pushback: Hashable, Sendable {
        /// Nothing.
        case none
        /// Try again after that time.
        case wait(Duration)
        /// Do not try again: a negative number, or what is none.
        case refused

        init(_ text: String?) {
            guard let text else {
                self = .none
                return
            }
            guard let milliseconds = Int32(text), milliseconds >= 0 else {
                self = .refused
                return
            }
            self = .wait(min(.milliseconds(milliseconds), RetryPolicy.pushbackMax))
        }
    }

    /// Whether a failure counts against the budget: one that could be tried again, or one after which the server wants
    /// no retry.
    func spendsToken(_ code: Status.Code, pushback: Pushback) -> Bool { pushback == .refused || codes.contains(code) }

    /// How long to wait before another attempt; nil if there is none.
    ///
    /// - Parameters:
    ///   - code: what the attempt ended with.
    ///   - retries: attempts that this policy made before, and how many of them since the server last named a wait.
    ///   - timeLeft: until the call's deadline. A retry that would begin after it is none.
    ///   - chance: from 0 to 1; chooses the jitter.
    func wait(
        after code: Status.Code,
        pushback: Pushback,
        retries: RetryCount,
        timeLeft: Duration,
        chance: Double
    ) -> Duration? {
        guard codes.contains(code), retries.total + 1 < attemptsMax else { return nil }
        let wait: Duration
        switch pushback {
        case .refused: return nil
        case .wait(let duration): wait = duration
        case .none: wait = backoff(retries.sincePushback, chance: chance)
        }
        return wait < timeLeft ? wait : nil
    }

    private func backoff(_ count: Int, chance: Double) -> Duration {
        var base = backoffFirst
        for _ in 0..<count where base < backoffMax { base = base * max(1, backoffMultiplier) }
        return min(base, backoffMax) * (0.8 + 0.4 * chance)
    }
}
