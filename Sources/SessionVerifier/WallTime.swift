import Glibc

/// The machine's time of day.
enum WallTime {
    /// Now, in Unix milliseconds.
    static var nowMilliseconds: Int64 {
        var time = timespec()
        // Fails only for an unknown clock or a bad pointer, and this is neither.
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
