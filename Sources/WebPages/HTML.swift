import HTTPJSON

/// HTML that is safe to send: every text interpolated by `\(…)` is escaped.
public struct HTML: ExpressibleByStringInterpolation, Sendable {
    /// The HTML.
    public let text: String

    /// HTML that is written as such.
    public init(stringLiteral value: String) { text = value }
    /// HTML of literals and escaped values.
    public init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    /// Builds the text.
    public struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        /// An empty text.
        public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        /// HTML that is written as such.
        public mutating func appendLiteral(_ literal: String) { text += literal }

        /// Untrusted text, for an element's content or an attribute between quotes.
        public mutating func appendInterpolation(_ value: String) { text += HTMLText.escaped(value) }

        /// A value that is HTML already.
        public mutating func appendInterpolation(_ value: HTML) { text += value.text }

        /// Values that are HTML already, one after the other.
        public mutating func appendInterpolation(_ values: [HTML]) { for value in values { text += value.text } }
    }

    /// Hidden fields of a form.
    public static func hidden(_ fields: [(name: String, value: String)]) -> [HTML] {
        fields.map { "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">\n" }
    }

    /// An attribute, with a space before it; nothing if there is no value.
    public static func attribute(_ name: StaticString, _ value: String?) -> HTML {
        value.map { " \(HTML(stringLiteral: "\(name)"))=\"\($0)\"" } ?? ""
    }
}
