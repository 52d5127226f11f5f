/// Parses the times in exports.
public enum ImportTime {
    /// From 1970 to the year 3000.
    private static let range: ClosedRange<Int64> = 0...32_503_680_000_000

    /// Unix milliseconds of a text: RFC 3339 or PostgreSQL's format (`2024-05-01 12:30:00.123456+00`), in UTC if there is no zone;
    /// JavaScript's format (`Wed, 01 May 2024 12:30:00 GMT`); or a number of Unix seconds (with or without a fraction) or, if it is
    /// too large for these, milliseconds.
    ///
    /// - Returns: nil for any other text.
    public static func milliseconds(_ text: String) -> Int64? {
        let text = text.trimmedSpaces
        guard 1...40 ~= text.utf8.count else { return nil }
        let milliseconds = number(text) ?? date(text) ?? webDate(text)
        return milliseconds.flatMap { range.contains($0) ? $0 : nil }
    }

    /// A larger number can't be seconds: it would be in the year 5138 or later.
    private static let secondsMax = 100_000_000_000.0

    private static func number(_ text: String) -> Int64? {
        guard text.utf8.allSatisfy({ 48...57 ~= $0 || $0 == UInt8(ascii: ".") }), let value = Double(text) else {
            return nil
        }
        return Int64(exactly: (value < secondsMax ? value * 1000 : value).rounded(.down))
    }

    /// Reads the digits themselves, which is ten times as fast as a formatter: there are two such texts in each row.
    private static func date(_ text: String) -> Int64? {
        var digits = Digits(Array(text.utf8))
        guard let year = digits.number(4), digits.skip("-"), let month = digits.number(2), digits.skip("-"),
            let day = digits.number(2)
        else { return nil }
        var seconds: Int64 = 0
        var milliseconds: Int64 = 0
        var offset: Int64 = 0
        if !digits.isAtEnd {
            guard digits.skip("T") || digits.skip(" ") || digits.skip("t"), let hour = digits.number(2), hour < 24,
                digits.skip(":"), let minute = digits.number(2), minute < 60, digits.skip(":"),
                let second = digits.number(2), second < 61
            else { return nil }
            seconds = hour * 3600 + minute * 60 + min(second, 59)
            if digits.skip(".") {
                guard let fraction = digits.fraction() else { return nil }
                milliseconds = fraction
            }
            guard let zone = digits.zoneSeconds(), digits.isAtEnd else { return nil }
            offset = zone
        }
        guard let days = days(year, month, day) else { return nil }
        return (days * 86_400 + seconds - offset) * 1000 + milliseconds
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// RFC 9110, section 5.6.7: the format of `toUTCString`.
    private static func webDate(_ text: String) -> Int64? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].utf8.count == 4, parts[0].hasSuffix(","), parts[5] == "GMT",
            let month = months.firstIndex(where: { $0 == parts[2] })
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return date("\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }

    /// Days since 1970 in the Gregorian calendar.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64? {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard 1...12 ~= month, 1...lengths[Int(month) - 1] ~= day else { return nil }
        let before = year - 1
        let leaps = before / 4 - before / 100 + before / 400 - (1969 / 4 - 1969 / 100 + 1969 / 400)
        return (year - 1970) * 365 + leaps + lengths.prefix(Int(month) - 1).reduce(0, +) + day - 1
    }
}

/// A text of digits and marks, consumed from its front.
private struct Digits {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func skip(_ mark: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: mark) else { return false }
        position += 1
        return true
    }

    /// A number with exactly this number of digits.
    mutating func number(_ count: Int) -> Int64? {
        guard position + count <= bytes.count else { return nil }
        var value: Int64 = 0
        for byte in bytes[position..<(position + count)] {
            guard 48...57 ~= byte else { return nil }
            value = value * 10 + Int64(byte - 48)
        }
        position += count
        return value
    }

    /// The milliseconds of the digits after a point.
    mutating func fraction() -> Int64? {
        var milliseconds: Int64 = 0
        var count = 0
        while position < bytes.count, 48...57 ~= bytes[position] {
            if count < 3 { milliseconds = milliseconds * 10 + Int64(bytes[position] - 48) }
            count += 1
            position += 1
        }
        guard count > 0 else { return nil }
        for _ in count..<max(count, 3) { milliseconds *= 10 }
        return milliseconds
    }

    /// The offset of a zone: nothing, `Z`, ` UTC`, `+00`, `+0800` or `+08:00`.
    mutating func zoneSeconds() -> Int64? {
        if isAtEnd || skip("Z") || skip("z") { return 0 }
        if skip(" ") {
            guard skip("U"), skip("T"), skip("C") else { return nil }
            return 0
        }
        let isAhead = skip("+")
        guard isAhead || skip("-"), let hours = number(2), hours < 24 else { return nil }
        var minutes: Int64 = 0
        if !isAtEnd {
            _ = skip(":")
            guard let told = number(2), told < 60 else { return nil }
            minutes = told
        }
        return (hours * 3600 + minutes * 60) * (isAhead ? 1 : -1)
    }
}

extension String {
    /// The text without leading and trailing spaces and tabs.
    var trimmedSpaces: String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return first == startIndex && index(after: last) == endIndex ? self : String(self[first...last])
    }
}
