/// Sends a request again, after pauses, within a deadline.
struct Retries: Sendable {
    var policy = RetryPolicy()

    /// Tries until a success, a failure that may not be tried again, or the last try.
    ///
    /// - Parameter attempt: Sends the request, whose response may take so long.
    /// - Throws: The last ``CallFailure``; also where the server asks for a pause that is longer than what is left, or than
    ///   a minute.
    func run(
        _ deadline: Deadline,
        mayRetry: (CallFailure) -> Bool,
        _ attempt: (Duration) async throws -> JSONObject
    ) async throws -> JSONObject {
        var failures = 0
        while true {
            do {
                return try await attempt(deadline.remaining)
            } catch let failure as CallFailure {
                failures += 1
                let pause = policy.pause(
                    failures: failures,
                    retryAfter: failure.error.retryAfter,
                    random: .random(in: 0...1)
                )
                guard failures < RetryPolicy.triesMax, mayRetry(failure), deadline.allows(pause),
                    failure.error.retryAfter ?? .zero <= RetryPolicy.waitMax
                else { throw failure }
                try await Task.sleep(for: pause)
            }
        }
    }
}
