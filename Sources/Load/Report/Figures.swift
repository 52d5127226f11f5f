/// Formats numbers for people.
enum Figures {
    /// A latency: three digits and a unit.
    static func latency(nanoseconds: UInt64) -> String {
        let (value, unit) =
            switch nanoseconds {
            case ..<1000: (Double(nanoseconds), "ns")
            case ..<1_000_000: (Double(nanoseconds) / 1e3, "µs")
            case ..<1_000_000_000: (Double(nanoseconds) / 1e6, "ms")
            default: (Double(nanoseconds) / 1e9, "s")
            }
        return "\(fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0)) \(unit)"
    }

    /// A count with commas between the thousands.
    static func count(_ count: Int) -> String {
        let digits = Array(String(abs(count)))
        var text = count < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// A rate: whole calls, or one decimal for small rates.
    static func rate(_ perSecond: Double) -> String {
        perSecond < 10 ? fixed(perSecond, 1) : count(Int(perSecond.rounded()))
    }

    /// A number with that many decimals, independent of the locale.
    static func fixed(_ value: Double, _ decimals: Int) -> String {
        guard value.isFinite else { return "-" }
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        let whole = (abs(value) * scale).rounded()
        guard whole < 9e15 else { return "-" }
        let (integer, fraction) = Int(whole).quotientAndRemainder(dividingBy: Int(scale))
        let sign = value < 0 && whole > 0 ? "-" : ""
        guard decimals > 0 else { return "\(sign)\(integer)" }
        let digits = String(fraction)
        return "\(sign)\(integer)." + String(repeating: "0", count: decimals - digits.count) + digits
    }

    /// Aligns a text to the right by spaces before it.
    static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// Aligns a text to the left by spaces after it.
    static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
