import RPC

/// Decides when to retry a batch (OTLP specification, "OTLP/gRPC", "Failures").
struct ExportRetry: Sendable {
    /// The maximum of attempts for a batch.
    static let attemptsMax = 5
    /// The wait after the first failure. It doubles with each failure up to `waitMax`, and up to half of it is left out at random.
    static let waitFirst: Duration = .seconds(1)
    /// The longest wait.
    static let waitMax: Duration = .seconds(8)

    /// The wait before the next attempt; nil if there is none.
    ///
    /// - Parameters:
    ///   - code: the status of the last attempt.
    ///   - attempts: the number of attempts.
    ///   - timeLeft: the time until the batch is dropped.
    ///   - chance: a random number from 0 to 1.
    static func wait(after code: Status.Code, attempts: Int, timeLeft: Duration, chance: Double) -> Duration? {
        guard isWorthwhile(code), attempts < attemptsMax else { return nil }
        let bound = min(waitFirst * (1 << min(attempts - 1, 10)), waitMax)
        let wait = bound * (0.5 + 0.5 * chance)
        return wait < timeLeft ? wait : nil
    }

    /// Whether the code is retryable. RESOURCE_EXHAUSTED is not: an overloaded collector needs fewer spans.
    private static func isWorthwhile(_ code: Status.Code) -> Bool {
        switch code {
        case .cancelled, .deadlineExceeded, .aborted, .outOfRange, .unavailable, .dataLoss: true
        case .ok, .unknown, .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .resourceExhausted,
            .failedPrecondition, .unimplemented, .internalError, .unauthenticated:
            false
        }
    }
}
