import Logging

/// How parts of a log line become bytes. Whatever is in them, the result has no line end.
extension [UInt8] {
    /// Appends text without line ends or other control characters, so that nobody can forge a line.
    mutating func appendPlain(_ text: String) {
        appendRuns(of: text.utf8.prefix(LogLine.valueBytesMax), isPlain: { $0 >= 0x20 && $0 != 0x7F }) { bytes, _ in
            bytes.append(0x20)
        }
    }

    /// Appends a JSON string.
    mutating func appendJSONString(_ text: String) {
        append(UInt8(ascii: "\""))
        let isCut = text.utf8.count > LogLine.valueBytesMax
        // Cut between characters, so that the line stays valid UTF-8.
        let shown = isCut ? String(text.unicodeScalars.prefix(LogLine.valueBytesMax / 4)) + "…" : text
        appendRuns(of: shown.utf8[...], isPlain: Self.isPlainJSON) { $0.appendEscaped($1) }
        append(UInt8(ascii: "\""))
    }

    /// Appends a number with at least `width` digits.
    mutating func appendDecimal(_ value: Int64, width: Int = 1) {
        if value < 0 { append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        // 20 digits are the most that 64 bits have.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var first = digits.count
            repeat {
                first -= 1
                digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0 || digits.count - first < Swift.min(width, digits.count)
            append(contentsOf: digits[first...])
        }
    }

    /// Copies what is plain at once, and hands each other byte to `other`.
    @inline(__always)
    private mutating func appendRuns(
        of text: Substring.UTF8View,
        isPlain: (UInt8) -> Bool,
        other: (inout Self, UInt8) -> Void
    ) {
        let wasContiguous: Void? = text.withContiguousStorageIfAvailable { bytes in
            var rest = bytes[...]
            while let end = rest.firstIndex(where: { !isPlain($0) }) {
                append(contentsOf: rest[..<end])
                other(&self, bytes[end])
                rest = rest[(end + 1)...]
            }
            append(contentsOf: rest)
        }
        guard wasContiguous == nil else { return }
        for byte in text { if isPlain(byte) { append(byte) } else { other(&self, byte) } }
    }

    @inline(__always)
    private static func isPlainJSON(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): append(contentsOf: #"\""#.utf8)
        case UInt8(ascii: "\\"): append(contentsOf: #"\\"#.utf8)
        case UInt8(ascii: "\n"): append(contentsOf: #"\n"#.utf8)
        case UInt8(ascii: "\r"): append(contentsOf: #"\r"#.utf8)
        case UInt8(ascii: "\t"): append(contentsOf: #"\t"#.utf8)
        default:
            append(contentsOf: #"\u00"#.utf8)
            appendHexDigit(byte >> 4)
            appendHexDigit(byte & 15)
        }
    }

    private mutating func appendHexDigit(_ value: UInt8) {
        append(value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10)
    }

    /// Appends a fact's value: numbers and Booleans bare, everything else as strings, arrays and objects.
    mutating func appendJSON(_ value: Logger.MetadataValue) {
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
}
