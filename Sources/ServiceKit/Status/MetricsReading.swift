/// Metrics of a program, as they were read: the other side of ``MetricsText``.
public struct MetricsReading: Sendable, Hashable {
    /// A sample: its labels and its value.
    public struct Sample: Sendable, Hashable {
        /// By name.
        public let labels: [String: String]
        /// What was measured.
        public let value: Double
    }

    private var samples: [String: [Sample]] = [:]

    /// Larger values are nothing that our programs measure, and don't fit an `Int`.
    private static let valueMax = 1e15

    /// Reads Prometheus's text format. Lines that it doesn't know are left out, and values that aren't numbers or too large.
    public init(text: String) {
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            guard let (name, sample) = Self.sample(line) else { continue }
            samples[name, default: []].append(sample)
        }
    }

    /// The samples of a family; empty if there are none.
    public func all(_ name: String) -> [Sample] { samples[name] ?? [] }

    /// The value of a family without labels.
    public func value(_ name: String) -> Double? { samples[name]?.first { $0.labels.isEmpty }?.value }

    /// The sum of a family's samples that have these labels; nil if none has.
    public func sum(_ name: String, where labels: [String: String] = [:]) -> Double? {
        let fitting = all(name).filter { sample in labels.allSatisfy { sample.labels[$0.key] == $0.value } }
        return fitting.isEmpty ? nil : fitting.map(\.value).reduce(0, +)
    }

    /// `name{label="value",…} 1.5`
    private static func sample(_ line: Substring) -> (String, Sample)? {
        let name = line.prefix { $0 != "{" && $0 != " " }
        var rest = line.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest = rest.dropFirst()
            while rest.first != "}" {
                let label = rest.prefix { $0 != "=" }
                rest = rest.dropFirst(label.count)
                guard rest.hasPrefix("=\""), let text = text(&rest) else { return nil }
                labels[String(label)] = text
                if rest.first == "," { rest = rest.dropFirst() }
            }
            rest = rest.dropFirst()
        }
        guard !name.isEmpty, rest.first == " ", let number = rest.dropFirst().split(separator: " ").first,
            let value = Double(number), abs(value) <= valueMax
        else { return nil }
        return (String(name), Sample(labels: labels, value: value))
    }

    /// Takes `="text"` from the front, with the format's three escapes; nil if the text has no end.
    private static func text(_ rest: inout Substring) -> String? {
        var text = ""
        rest = rest.dropFirst(2)
        while let character = rest.popFirst() {
            switch character {
            case "\"": return text
            case "\\":
                guard let escaped = rest.popFirst() else { return nil }
                text.append(escaped == "n" ? "\n" : escaped)
            default: text.append(character)
            }
        }
        return nil
    }
}
