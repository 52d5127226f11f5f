internal import CTimex

/// This machine's clock.
enum SystemClock {
    /// Whether the kernel was told that the clock follows another one, such as by NTP (adjtimex(2)); nil if it doesn't say.
    static var isSynchronized: Bool? {
        var clock = timex()
        let state = adjtimex(&clock)
        return state < 0 ? nil : state != TIME_ERROR && clock.status & STA_UNSYNC == 0
    }
}
