import RPCTransport

/// Metrics as Prometheus reads them: its text format, version 0.0.4.
///
/// Source: https://prometheus.io/docs/instrumenting/exposition_formats/. Names follow
/// https://prometheus.io/docs/practices/naming/: base units, `_total` for counters.
public struct MetricsText: Sendable {
    /// The media type of the text.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// What a family of metrics is.
    public enum Kind: String, Sendable {
        /// A sum that only grows.
        case counter
        /// A value that goes up and down.
        case gauge
    }

    /// A label: its name, and a value of a closed set. Never anything of a person.
    public typealias Label = (name: String, value: String)

    /// The text so far.
    public private(set) var text = ""
    private var names: Set<String> = []

    /// Nothing yet.
    public init() {}

    /// A family with its samples; nothing at all if there is none. A name may come once.
    public mutating func family(
        _ name: StaticString,
        _ kind: Kind,
        help: StaticString,
        _ samples: [(labels: [Label], value: Double)]
    ) {
        guard !samples.isEmpty else { return }
        begin("\(name)", kind.rawValue, help)
        for sample in samples { line("\(name)", sample.labels, Self.number(sample.value)) }
    }

    /// A family with one sample that has no labels.
    public mutating func single(_ name: StaticString, _ kind: Kind, help: StaticString, _ value: Double) {
        family(name, kind, help: help, [([], value)])
    }

    /// A family of histograms of times in seconds.
    public mutating func times(
        _ name: StaticString,
        help: StaticString,
        _ samples: [(labels: [Label], times: TimeStatistics)]
    ) {
        guard !samples.isEmpty else { return }
        begin("\(name)", "histogram", help)
        for (labels, times) in samples {
            var sum: UInt64 = 0
            for (count, bound) in zip(times.counts, Self.bounds) {
                sum += count
                line("\(name)_bucket", labels + [("le", bound)], "\(sum)")
            }
            line("\(name)_sum", labels, Self.number(Double(times.sumNanoseconds) / 1e9))
            line("\(name)_count", labels, "\(sum)")
        }
    }

    private static let bounds =
        TimeStatistics.boundsNanoseconds.map { number(Double($0) / 1e9) } + ["+Inf"]

    private mutating func begin(_ name: String, _ kind: String, _ help: StaticString) {
        precondition(names.insert(name).inserted, "\(name) is registered twice")
        text += "# HELP \(name) \(Self.escaped("\(help)", quotes: false))\n# TYPE \(name) \(kind)\n"
    }

    private mutating func line(_ name: String, _ labels: [Label], _ value: String) {
        text += name
        if !labels.isEmpty {
            text += "{"
            for (index, label) in labels.enumerated() {
                text += "\(index > 0 ? "," : "")\(label.name)=\"\(Self.escaped(label.value, quotes: true))\""
            }
            text += "}"
        }
        text += " \(value)\n"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x0A || $0 == 0x22 }) else { return text }
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    /// Whole numbers without a point, and what is no number as the format spells it.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? "\(value)"
    }
}
