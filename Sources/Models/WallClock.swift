#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The time of day, handed to whatever stamps or compares times, so that a test can move it.
public struct WallClock: Sendable {
    private let read: @Sendable () -> Int64

    /// A clock that reads Unix milliseconds from a closure, which is called from any thread.
    public init(_ nowMilliseconds: @escaping @Sendable () -> Int64) { self.read = nowMilliseconds }

    /// Now, in Unix milliseconds. It may go back when the machine's clock is set.
    public var nowMilliseconds: Int64 { read() }

    /// Now, in whole Unix seconds, as JWTs carry it.
    public var nowSeconds: Int64 { nowMilliseconds / 1_000 }

    /// The machine's clock.
    public static let system = WallClock {
        var time = timespec()
        // Fails only for an unknown clock or a bad pointer, and this is neither.
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
