/// JSON as people read and edit it: two spaces a level, a line for each member, and arrays of short values on one line.
extension JSONObject {
    /// The object's UTF-8 text on several lines, members in their order, with a line end behind it.
    public func indented() -> [UInt8] {
        var text: [UInt8] = []
        JSONLayout.write(.object(self), level: 0, into: &text)
        return text + [UInt8(ascii: "\n")]
    }
}

private enum JSONLayout {
    /// The longest array on one line, in bytes without its indentation.
    private static let lineBytesMax = 100

    static func write(_ value: JSONValue, level: Int, into text: inout [UInt8]) {
        switch value {
        case .object(let object) where !object.members.isEmpty:
            let members = object.members.map { (JSONValue.string($0.name).serialized() + Array(": ".utf8), $0.value) }
            write(members, between: ("{", "}"), level: level, into: &text)
        case .array(let elements) where !elements.isEmpty:
            if let line = line(elements) {
                text += line
            } else {
                write(elements.map { ([], $0) }, between: ("[", "]"), level: level, into: &text)
            }
        default:
            text += value.serialized()
        }
    }

    private static func write(
        _ parts: [(name: [UInt8], value: JSONValue)],
        between brackets: (Character, Character),
        level: Int,
        into text: inout [UInt8]
    ) {
        text += Array("\(brackets.0)\n".utf8)
        for (index, part) in parts.enumerated() {
            text += indentation(level + 1) + part.name
            write(part.value, level: level + 1, into: &text)
            text += Array((index + 1 < parts.count ? ",\n" : "\n").utf8)
        }
        text += indentation(level) + Array("\(brackets.1)".utf8)
    }

    /// An array of texts, numbers and so on in one line; nil if it has others, or is longer.
    private static func line(_ elements: [JSONValue]) -> [UInt8]? {
        guard elements.allSatisfy({ $0.object == nil && $0.array == nil }) else { return nil }
        let line =
            [UInt8(ascii: "[")] + elements.map { $0.serialized() }.joined(separator: Array(", ".utf8)) + [
                UInt8(ascii: "]")
            ]
        return line.count <= lineBytesMax ? line : nil
    }

    private static func indentation(_ level: Int) -> [UInt8] { Array(repeating: UInt8(ascii: " "), count: 2 * level) }
}
