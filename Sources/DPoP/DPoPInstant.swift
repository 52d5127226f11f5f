/// A moment by two clocks. Both are passed in, so that a test can choose them.
public struct DPoPInstant: Sendable, Hashable {
    /// Seconds since 1970. `iat` is compared with it, since a client has no other clock that it shares with us.
    public let unixSeconds: Int64
    /// Seconds of a clock of this machine that never goes back, as `CLOCK_MONOTONIC`. Nonces and the memory of proofs go by it: when the
    /// other clock is set back, no old nonce becomes good.
    public let monotonicSeconds: Int64

    /// A moment.
    public init(unixSeconds: Int64, monotonicSeconds: Int64) {
        self.unixSeconds = unixSeconds
        self.monotonicSeconds = monotonicSeconds
    }
}
