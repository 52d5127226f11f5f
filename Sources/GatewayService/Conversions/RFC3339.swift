/// Moments as answers write them: RFC 3339, UTC, milliseconds.
enum RFC3339 {
    /// For example `2026-01-31T23:59:59.123Z`, from Unix milliseconds.
    static func text(milliseconds: Int64) -> String {
        let (seconds, millisecond) = milliseconds.flooringDivision(1000)
        let (day, second) = seconds.flooringDivision(86_400)
        let date = civilDate(daysSince1970: day)
        // A year of more digits than four has them all.
        let yearWidth = max(4, String(date.year).utf8.count)
        return String(unsafeUninitializedCapacity: yearWidth + 20) { text in
            var count = 0
            func put(_ value: Int64, _ width: Int, _ mark: UInt8) {
                var rest = value.magnitude
                for place in (count..<count + width).reversed() {
                    text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                text[count + width] = mark
                count += width + 1
            }
            put(date.year, yearWidth, UInt8(ascii: "-"))
            put(date.month, 2, UInt8(ascii: "-"))
            put(date.day, 2, UInt8(ascii: "T"))
            put(second / 3600, 2, UInt8(ascii: ":"))
            put(second / 60 % 60, 2, UInt8(ascii: ":"))
            put(second % 60, 2, UInt8(ascii: "."))
            put(millisecond, 3, UInt8(ascii: "Z"))
            return count
        }
    }

    /// The proleptic Gregorian date of a day, counted in eras of 400 years that begin on 1 March.
    private static func civilDate(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (daysSince1970 + 719_468).flooringDivision(146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}

extension Int64 {
    /// The quotient rounded toward negative infinity, and the rest, which is never negative.
    func flooringDivision(_ divisor: Int64) -> (quotient: Int64, rest: Int64) {
        let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
    }
}
