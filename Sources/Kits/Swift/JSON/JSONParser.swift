import Foundation

/// Reads a text of JSON (RFC 8259). `JSONDecoder` decodes into types that are known; the kit's messages keep what later versions add
/// out of them, and cost a fifth of the code that synthesized decoding does.
struct JSONParser {
    /// How deep lists and objects may stand in each other.
    private static let depthMax = 64

    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The value that the whole text is.
    mutating func parse() throws(JSONFault) -> JSONValue {
        let value = try value()
        skipSpace()
        guard index == bytes.count else { throw fault }
        return value
    }

    private var fault: JSONFault { JSONFault(place: "byte \(index)") }

    private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func take(_ expected: UInt8) -> Bool {
        skipSpace()
        guard byte == expected else { return false }
        index += 1
        return true
    }

    private mutating func value() throws(JSONFault) -> JSONValue {
        skipSpace()
        switch byte {
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .list(try list())
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONFault) -> JSONValue {
        let count = word.utf8CodeUnitCount
        guard bytes.count - index >= count, (0..<count).allSatisfy({ bytes[index + $0] == word.utf8Start[$0] }) else {
            throw fault
        }
        index += count
        return value
    }

    private mutating func enter() throws(JSONFault) {
        index += 1
        depth += 1
        guard depth <= Self.depthMax else { throw fault }
    }

    private mutating func object() throws(JSONFault) -> JSONObject {
        try enter()
        defer { depth -= 1 }
        var object = JSONObject()
        if take(UInt8(ascii: "}")) { return object }
        repeat {
            skipSpace()
            guard byte == UInt8(ascii: "\"") else { throw fault }
            let name = try text()
            guard take(UInt8(ascii: ":")) else { throw fault }
            object.members[name] = try value()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw fault }
        return object
    }

    private mutating func list() throws(JSONFault) -> [JSONValue] {
        try enter()
        defer { depth -= 1 }
        if take(UInt8(ascii: "]")) { return [] }
        var values: [JSONValue] = []
        repeat { values.append(try value()) } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw fault }
        return values
    }

    private mutating func number() throws(JSONFault) -> JSONValue {
        let start = index
        while let byte, Self.isOfNumber(byte) { index += 1 }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        guard let first = text.unicodeScalars.first, first == "-" || ("0"..."9").contains(first) else { throw fault }
        if let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { throw fault }
        return .number(number)
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private mutating func text() throws(JSONFault) -> String {
        index += 1
        var text: [UInt8] = []
        while let byte {
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(bytes: text, encoding: .utf8) else { throw fault }
                return text
            case UInt8(ascii: "\\"): text += String(try escape()).utf8
            case 0..<0x20: throw fault
            default: text.append(byte)
            }
        }
        throw fault
    }

    private mutating func escape() throws(JSONFault) -> Unicode.Scalar {
        guard let byte else { throw fault }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw fault
        }
    }

    /// Four digits, or two times four for what UTF-16 has as a pair. Half a pair becomes U+FFFD.
    private mutating func unicodeEscape() throws(JSONFault) -> Unicode.Scalar {
        let first = try codeUnit()
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) ?? "\u{FFFD}" }
        guard index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
            return "\u{FFFD}"
        }
        let back = index
        index += 2
        let second = try codeUnit()
        guard UTF16.isTrailSurrogate(second) else {
            index = back
            return "\u{FFFD}"
        }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private mutating func codeUnit() throws(JSONFault) -> UInt16 {
        guard bytes.count - index >= 4 else { throw fault }
        var unit: UInt16 = 0
        for byte in bytes[index..<index + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw fault }
            unit = unit << 4 | UInt16(digit)
        }
        index += 4
        return unit
    }
}
