import RPC

/// When a batch is sent again (OTLP specification, "OTLP/gRPC", "Failures").
struct ExportRetry: Sendable {
    /// Attempts for a batch.
    static let attemptsMax = 5
    /// The wait after the first failure; it doubles with each, up to `waitMax`, and a random half of it is left out.
    static let waitFirst: Duration = .seconds(1)
    /// The longest wait.
    static let waitMax: Duration = .seconds(8)

    /// The wait before the next attempt; nil if there is none.
    ///
    /// - Parameters:
    ///   - code: what the last attempt ended with.
    ///   - attempts: how many there were.
    ///   - timeLeft: until the batch is given up.
    ///   - chance: from 0 to 1.
    static func wait(after code: Status.Code, attempts: Int, timeLeft: Duration, chance: Double) -> Duration? {
        guard isWorthwhile(code), attempts < attemptsMax else { return nil }
        let bound = min(waitFirst * (1 << min(attempts - 1, 10)), waitMax)
        let wait = bound * (0.5 + 0.5 * chance)
        return wait < timeLeft ? wait : nil
    }

    /// RESOURCE_EXHAUSTED is not: a collector that has no room is helped by fewer spans.
    private static func isWorthwhile(_ code: Status.Code) -> Bool {
        switch code {
        case .cancelled, .deadlineExceeded, .aborted, .outOfRange, .unavailable, .dataLoss: true
        case .ok, .unknown, .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .resourceExhausted,
            .failedPrecondition, .unimplemented, .internalError, .unauthenticated:
            false
        }
    }
}
