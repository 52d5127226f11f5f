import Glibc

/// The clock for the starts and ends of calls.
enum MonotonicTime {
    /// Nanoseconds on `CLOCK_MONOTONIC`, which kernel timers use too.
    @inline(__always)
    static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
