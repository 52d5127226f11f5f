import Foundation

/// The clocks of the kit. Tests have others.
package struct TokenClock: Sendable {
    /// Milliseconds since 1970. It can be wrong, and be set.
    package var wall: @Sendable () -> Int64
    /// Time since some moment of this process. It goes on while the device sleeps, and nobody sets it.
    package var elapsed: @Sendable () -> Duration

    package init(wall: @escaping @Sendable () -> Int64, elapsed: @escaping @Sendable () -> Duration) {
        self.wall = wall
        self.elapsed = elapsed
    }

    /// The system's.
    package static func system() -> TokenClock {
        let start = ContinuousClock.now
        return TokenClock(
            wall: { Int64(Date().timeIntervalSince1970 * 1000) },
            elapsed: { ContinuousClock.now - start }
        )
    }
}

/// Whether an access token is good for a call: a pure decision.
package enum TokenLife {
    /// A token must have this left, or a fifth of its lifetime if that is less.
    private static let secondsLeftMin = 60.0
    private static let shareLeftMin = 0.2

    /// Whether a token has enough time left. A token that would have been received in the future has none: the clock was set.
    ///
    /// - Parameters:
    ///   - age: How long ago it was received.
    package static func isFresh(lifetimeSeconds: Int64, age: Duration) -> Bool {
        let lifetime = Double(lifetimeSeconds)
        guard age >= .zero else { return false }
        return lifetime - age.seconds >= min(secondsLeftMin, shareLeftMin * lifetime)
    }
}
