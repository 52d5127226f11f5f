/// Durations as people write them in configuration: a whole number and one of `ms`, `s`, `m`, `h`, `d`.
public enum DurationText {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// The duration that the text names; nil if it names none or more than 100,000 days.
    public static func parse(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let suffix = String(text.dropFirst(digits.count))
        guard (1...12).contains(digits.count), let count = Int64(digits),
            let unit = units.first(where: { $0.suffix == suffix })
        else { return nil }
        let (milliseconds, overflow) = count.multipliedReportingOverflow(by: unit.milliseconds)
        guard !overflow, milliseconds <= 100_000 * 86_400_000 else { return nil }
        return .milliseconds(milliseconds)
    }

    /// The shortest text of a duration of whole milliseconds.
    public static func format(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        let unit = units.last { milliseconds >= $0.milliseconds && milliseconds % $0.milliseconds == 0 } ?? units[0]
        return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
    }
}
