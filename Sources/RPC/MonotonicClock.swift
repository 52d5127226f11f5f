#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The clock that deadlines are read on: `CLOCK_MONOTONIC`, the one the event loops use.
enum MonotonicClock {
    static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
