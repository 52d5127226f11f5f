import Glibc

/// The clock that starts and ends of calls are read on.
enum MonotonicTime {
    /// Nanoseconds on `CLOCK_MONOTONIC`, which timers of the kernel use too.
    @inline(__always)
    static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
