/// The intended starts of an open loop's calls: at a fixed rate, even if earlier calls have not ended.
///
/// Each start is computed from its number and not from the previous start, so that rounding errors don't add up: hours later
/// the schedule is as exact as in its first second. Pure; times are nanoseconds on the monotonic clock.
public struct ArrivalSchedule: Sendable, Hashable {
    /// The maximum of calls per second.
    public static let rateMax = 10_000_000

    /// Calls per second of all shares together.
    public let ratePerSecond: Int
    /// When the first call of the first share begins.
    public let startNanoseconds: UInt64
    /// The index of this share: share 1 of 4 has the calls 1, 5, 9, ….
    public let share: Int
    /// The number of shares, one per loop.
    public let shareCount: Int

    /// A schedule. The rate is from 1 to `rateMax`, the share below the count.
    public init(ratePerSecond: Int, startNanoseconds: UInt64, share: Int = 0, shareCount: Int = 1) {
        precondition((1...Self.rateMax).contains(ratePerSecond) && (0..<shareCount).contains(share))
        self.ratePerSecond = ratePerSecond
        self.startNanoseconds = startNanoseconds
        self.share = share
        self.shareCount = shareCount
    }

    /// The intended start of the share's call of that number, rounded down to the nanosecond.
    public func start(of number: Int) -> UInt64 {
        let overall = UInt64(number) * UInt64(shareCount) + UInt64(share)
        // In two parts, because the product of a long run and 10^9 would overflow.
        let (seconds, rest) = overall.quotientAndRemainder(dividingBy: UInt64(ratePerSecond))
        return startNanoseconds + seconds * 1_000_000_000 + rest * 1_000_000_000 / UInt64(ratePerSecond)
    }
}
