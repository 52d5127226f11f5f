import Glibc

/// A moment as log lines write it: RFC 3339 in UTC with milliseconds.
struct LogTimestamp {
    /// Seconds since 1970, UTC.
    var seconds: Int64
    /// Milliseconds of that second.
    var milliseconds: Int64

    /// The wall clock's reading.
    static var now: LogTimestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return LogTimestamp(seconds: Int64(time.tv_sec), milliseconds: Int64(time.tv_nsec) / 1_000_000)
    }

    /// Writes, for example, `2026-01-31T23:59:59.123Z`.
    func write(to line: inout LineWriter) {
        let day = seconds.flooringQuotient(86_400)
        let second = seconds - day * 86_400
        // Days to a civil date, in eras of 400 years that begin on 1 March.
        let shifted = day + 719_468
        let era = shifted.flooringQuotient(146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        line.write(year, width: 4)
        line.write(UInt8(ascii: "-"), pair: month)
        line.write(UInt8(ascii: "-"), pair: dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
        line.write(UInt8(ascii: "T"), pair: second / 3600)
        line.write(UInt8(ascii: ":"), pair: second / 60 % 60)
        line.write(UInt8(ascii: ":"), pair: second % 60)
        line.write(UInt8(ascii: "."))
        line.write(milliseconds, digits: 3)
        line.write(UInt8(ascii: "Z"))
    }
}

extension Int64 {
    /// The quotient rounded toward negative infinity.
    fileprivate func flooringQuotient(_ divisor: Int64) -> Int64 {
        self >= 0 ? self / divisor : (self - divisor + 1) / divisor
    }
}
