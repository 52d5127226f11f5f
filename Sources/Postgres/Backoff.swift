/// How long to wait before the next attempt to connect: doubling up to a limit, and somewhere in the upper half of
/// that, so that many clients don't come back at once.
struct Backoff: Sendable {
    var first: Duration = .milliseconds(50)
    var limit: Duration = .seconds(1)

    /// The delay after `attempt` failures in a row (from 1), for a random number of 0 ..< 1.
    func delay(attempt: Int, random: Double) -> Duration {
        let doubled = first * (1 << min(max(attempt, 1) - 1, 16))
        return min(doubled, limit) * (0.5 + random / 2)
    }
}
