/// When the calls of an open loop are to begin: at a fixed rate, whether the ones before have ended or not.
///
/// Each start is computed from its number and never from the start before, so that rounding does not add up: a
/// schedule of hours is as exact as its first second. Pure; times are nanoseconds on the monotonic clock.
public struct ArrivalSchedule: Sendable, Hashable {
    /// The most calls a second.
    public static let rateMax = 10_000_000

    /// Calls a second of all shares together.
    public let ratePerSecond: Int
    /// When the first call of the first share begins.
    public let startNanoseconds: UInt64
    /// Which of the shares this is: share 1 of 4 has the calls 1, 5, 9, ….
    public let share: Int
    /// How many shares there are, one a loop.
    public let shareCount: Int

    /// A schedule. The rate is from 1 to `rateMax`, the share below the count.
    public init(ratePerSecond: Int, startNanoseconds: UInt64, share: Int = 0, shareCount: Int = 1) {
        precondition((1...Self.rateMax).contains(ratePerSecond) && (0..<shareCount).contains(share))
        self.ratePerSecond = ratePerSecond
        self.startNanoseconds = startNanoseconds
        self.share = share
        self.shareCount = shareCount
    }

    /// When the share's call of that number is to begin, rounded down to the nanosecond.
    public func start(of number: Int) -> UInt64 {
        let overall = UInt64(number) * UInt64(shareCount) + UInt64(share)
        // In two parts, because the product of a long run and a thousand million does not fit.
        let (seconds, rest) = overall.quotientAndRemainder(dividingBy: UInt64(ratePerSecond))
        return startNanoseconds + seconds * 1_000_000_000 + rest * 1_000_000_000 / UInt64(ratePerSecond)
    }
}
