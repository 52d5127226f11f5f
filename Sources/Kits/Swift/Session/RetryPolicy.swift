/// What is tried again, and after how long: pure decisions.
package struct RetryPolicy: Sendable {
    /// How often a request is sent within one call.
    package static let triesMax = 3
    /// The longest pause that the kit itself makes because the server, or a proxy, asks for it.
    package static let waitMax: Duration = .seconds(60)

    package var firstPause: Duration = .milliseconds(200)
    package var longestPause: Duration = .seconds(5)
    /// How long one try of a refresh may hold the store's lock, which other processes wait for. It may be repeated.
    package var refreshTryMax: Duration = .seconds(10)
    /// What the pauses are multiplied by; tests are in a hurry.
    package var factor = 1.0

    package init() {}

    /// The pause before the next try, with full jitter so that clients don't come all at once.
    ///
    /// - Parameters:
    ///   - failures: How many tries have failed, at least 1.
    ///   - retryAfter: What the server asked for, of which a minute counts.
    ///   - random: From 0 to 1.
    package func pause(failures: Int, retryAfter: Duration?, random: Double) -> Duration {
        let longest = min(longestPause, firstPause * (1 << min(failures - 1, 16)))
        return max(longest * random, min(retryAfter ?? .zero, Self.waitMax)) * factor
    }

    /// Whether a call that failed may be sent again.
    ///
    /// - Parameters:
    ///   - isIdempotent: Whether a repetition has the effect of one call.
    static func mayRetry(_ failure: CallFailure, isIdempotent: Bool) -> Bool {
        switch failure {
        case .lost(let failure): failure.wasNotSent || (isIdempotent && !failure.isTooLong)
        case .refused(let error, let isOwn):
            switch error.status {
            // A proxy that answers 429 or 503 by itself may have passed the request on before.
            case 429, 503: isOwn || isIdempotent
            case 502, 504: isIdempotent
            default: false
            }
        }
    }
}

/// How a request failed.
enum CallFailure: Error {
    /// No whole response came.
    case lost(HTTPFailure)
    /// A response that is no success. `isOwn`: by the server itself, not by something in between.
    case refused(VestibuleError, isOwn: Bool)

    var error: VestibuleError {
        switch self {
        case .lost(let failure):
            failure.isTooLong ? .badResponse(status: nil) : failure.isTimeout ? .timeout : .network(failure.message)
        case .refused(let error, _): error
        }
    }
}
