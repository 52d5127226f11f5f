import Logging

/// One line of the log, made into bytes. Whatever is in it, the result is exactly one line.
struct LogLine {
    var timestamp: LogTimestamp
    var level: Logger.Level
    var label: String
    var message: String
    /// The facts, in the order to print.
    var facts: [(key: String, value: Logger.MetadataValue)]

    /// The longest line; a longer one is cut in its values.
    static let valueBytesMax = 8192

    /// The names that a JSON line uses itself; a fact of such a name gets an underscore before it.
    private static let reservedNames: Set = ["time", "level", "logger", "message"]

    /// The line in a format, with its line end.
    func bytes(_ format: LogFormat) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        switch format {
        case .json: appendJSON(to: &bytes)
        case .text: appendText(to: &bytes)
        }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private func appendJSON(to bytes: inout [UInt8]) {
        bytes += #"{"time":""#.utf8
        timestamp.append(to: &bytes)
        bytes += #"","level":""#.utf8
        bytes += level.rawValue.utf8
        bytes += #"","logger":"#.utf8
        bytes.appendJSONString(label)
        bytes += #","message":"#.utf8
        bytes.appendJSONString(message)
        for (key, value) in facts {
            bytes.append(UInt8(ascii: ","))
            bytes.appendJSONString(Self.reservedNames.contains(key) ? "_" + key : key)
            bytes.append(UInt8(ascii: ":"))
            bytes.appendJSON(value)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private func appendText(to bytes: inout [UInt8]) {
        timestamp.append(to: &bytes)
        bytes.append(UInt8(ascii: " "))
        let name = level.rawValue
        bytes += name.utf8
        bytes += repeatElement(UInt8(ascii: " "), count: max(1, 9 - name.utf8.count))
        bytes.appendPlain(label)
        bytes += ": ".utf8
        bytes.appendPlain(message)
        for (key, value) in facts {
            bytes.append(UInt8(ascii: " "))
            bytes.appendPlain(key)
            bytes.append(UInt8(ascii: "="))
            bytes.appendPlain("\(value)")
        }
    }
}

extension [UInt8] {
    /// Appends text without line ends or other control characters, so that nobody can forge a line.
    fileprivate mutating func appendPlain(_ text: String) {
        append(contentsOf: text.utf8.prefix(LogLine.valueBytesMax).lazy.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 })
    }

    /// Appends a JSON string.
    fileprivate mutating func appendJSONString(_ text: String) {
        append(UInt8(ascii: "\""))
        let isCut = text.utf8.count > LogLine.valueBytesMax
        // Cut between characters, so that the line stays valid UTF-8.
        let shown = isCut ? String(text.unicodeScalars.prefix(LogLine.valueBytesMax / 4)) + "…" : text
        for byte in shown.utf8 {
            switch byte {
            case UInt8(ascii: "\""): append(contentsOf: #"\""#.utf8)
            case UInt8(ascii: "\\"): append(contentsOf: #"\\"#.utf8)
            case UInt8(ascii: "\n"): append(contentsOf: #"\n"#.utf8)
            case UInt8(ascii: "\r"): append(contentsOf: #"\r"#.utf8)
            case UInt8(ascii: "\t"): append(contentsOf: #"\t"#.utf8)
            case 0..<0x20, 0x7F:
                append(contentsOf: #"\u00"#.utf8)
                append(Self.hexDigits[Int(byte >> 4)])
                append(Self.hexDigits[Int(byte & 15)])
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }

    /// Appends a fact's value: numbers and Booleans bare, everything else as strings, arrays and objects.
    fileprivate mutating func appendJSON(_ value: Logger.MetadataValue) {
        switch value {
        case .string(let text): appendJSONString(text)
        case .stringConvertible(let value):
            switch value {
            case is Int, is Int32, is Int64, is UInt, is UInt32, is UInt64, is Bool:
                append(contentsOf: value.description.utf8)
            case let number as Double where number.isFinite: append(contentsOf: number.description.utf8)
            default: appendJSONString(value.description)
            }
        case .array(let values):
            append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                appendJSON(value)
            }
            append(UInt8(ascii: "]"))
        case .dictionary(let members):
            append(UInt8(ascii: "{"))
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                appendJSONString(member.key)
                append(UInt8(ascii: ":"))
                appendJSON(member.value)
            }
            append(UInt8(ascii: "}"))
        }
    }

    private static var hexDigits: [UInt8] { Array("0123456789abcdef".utf8) }
}
