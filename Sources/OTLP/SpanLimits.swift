import Tracing

/// The limits of a span; data above them is dropped and counted, or cut.
enum SpanLimits {
    /// The maximum of attributes of a span, an event or a link.
    static let attributesMax = 64
    /// The maximum of events of a span.
    static let eventsMax = 64
    /// The maximum of links of a span.
    static let linksMax = 16
    /// The maximum length in bytes of a name, or of an attribute's value.
    static let textBytesMax = 4096
    /// The maximum of elements of an array attribute.
    static let elementsMax = 32

    /// The text, cut between two Unicode scalars if it is too long.
    static func text(_ text: String) -> String {
        guard text.utf8.count > textBytesMax else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: textBytesMax)
        while String.Index(end, within: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text.unicodeScalars[..<end])
    }

    /// The attributes within the limits, and the number of dropped ones. Earlier attributes stay.
    static func attributes(
        _ attributes: SpanAttributes,
        keeping before: SpanAttributes = [:]
    ) -> (kept: SpanAttributes, droppedCount: Int) {
        var isWithin = attributes.count <= attributesMax
        attributes.forEach { key, value in isWithin = isWithin && key.utf8.count <= textBytesMax && Self.isWithin(value)
        }
        if isWithin { return (attributes, 0) }
        var entries: [(key: String, value: SpanAttribute)] = []
        attributes.forEach { key, value in entries.append((key, value)) }
        entries.sort { left, right in
            let (leftIsNew, rightIsNew) = (before.get(left.key) == nil, before.get(right.key) == nil)
            return leftIsNew == rightIsNew ? left.key < right.key : rightIsNew
        }
        var kept = SpanAttributes([:])
        for entry in entries.prefix(attributesMax) { kept.set(text(entry.key), value: cut(entry.value)) }
        return (kept, entries.count - kept.count)
    }

    private static func isWithin(_ value: SpanAttribute) -> Bool {
        switch value {
        case .int32, .int64, .double, .bool: true
        case .string(let text): text.utf8.count <= textBytesMax
        default: false
        }
    }

    private static func cut(_ value: SpanAttribute) -> SpanAttribute {
        switch value {
        case .string(let text): .string(Self.text(text))
        case .stringConvertible(let value): .string(text("\(value)"))
        case .int32Array(let values): .int32Array(Array(values.prefix(elementsMax)))
        case .int64Array(let values): .int64Array(Array(values.prefix(elementsMax)))
        case .doubleArray(let values): .doubleArray(Array(values.prefix(elementsMax)))
        case .boolArray(let values): .boolArray(Array(values.prefix(elementsMax)))
        case .stringArray(let values): .stringArray(values.prefix(elementsMax).map(text))
        case .stringConvertibleArray(let values): .stringArray(values.prefix(elementsMax).map { text("\($0)") })
        default: value
        }
    }
}
