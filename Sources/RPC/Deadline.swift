/// The moment, on the monotonic clock, by which a call must have ended.
public struct Deadline: Sendable, Hashable, Comparable {
    /// Nanoseconds on the monotonic clock.
    public let nanoseconds: UInt64

    /// A deadline at a reading of the monotonic clock.
    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// A deadline that long from now; at once if the duration is negative.
    public static func after(_ duration: Duration) -> Deadline {
        now().advanced(by: duration)
    }

    /// The deadline that long after this one; never if it does not fit.
    public func advanced(by duration: Duration) -> Deadline { advanced(byNanoseconds: duration.wholeNanoseconds) }

    /// The deadline so many nanoseconds after this one; never if it does not fit.
    public func advanced(byNanoseconds distance: UInt64) -> Deadline {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(distance)
        return Deadline(nanoseconds: overflow ? .max : sum)
    }

    /// One that never passes: of a call that may take as long as it likes. Nothing of it is sent to the server.
    public static let never = Deadline(nanoseconds: .max)

    /// The present moment.
    public static func now() -> Deadline { Deadline(nanoseconds: MonotonicClock.nanoseconds) }

    /// The time left; zero when it has passed.
    public var remaining: Duration {
        let now = MonotonicClock.nanoseconds
        return now >= nanoseconds ? .zero : .nanoseconds(Int64(clamping: nanoseconds - now))
    }

    /// Whether it has passed.
    public var hasPassed: Bool { MonotonicClock.nanoseconds >= nanoseconds }

    /// Whether the left one passes first.
    public static func < (left: Deadline, right: Deadline) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    /// The duration in whole nanoseconds, zero if it is negative, the maximum if it does not fit.
    public var wholeNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : product &+ UInt64(attoseconds / 1_000_000_000)
    }
}
