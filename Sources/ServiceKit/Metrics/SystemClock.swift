internal import CTimex

/// This machine's clock.
enum SystemClock {
    /// Whether the kernel counts the clock as synchronized, such as by NTP (adjtimex(2)); nil if it has no answer.
    static var isSynchronized: Bool? {
        var clock = timex()
        let state = adjtimex(&clock)
        return state < 0 ? nil : state != TIME_ERROR && clock.status & STA_UNSYNC == 0
    }
}
