/// Why a text was rejected as JSON.
public enum JSONError: Error, Sendable, Hashable {
    /// The text is longer than the limit.
    case tooLarge
    /// Arrays and objects are nested deeper than the limit.
    case tooDeep
    /// There are more values than the limit.
    case tooManyValues
    /// An object has a member twice (RFC 8725 section 2.4 and RFC 7519 section 4 allow us to reject it).
    case duplicateMember
    /// At this byte the text is not valid by RFC 8259.
    case syntax(byteOffset: Int)
    /// The text is JSON, but its outermost value is not an object.
    case notAnObject
}

/// Limits on the JSON that is read.
public struct JSONLimits: Sendable, Hashable {
    /// The maximum length of a text in bytes.
    public var bytesMax: Int
    /// The maximum depth of nested arrays and objects.
    public var depthMax: Int
    /// The maximum of values in the whole document.
    public var valuesMax: Int

    /// Limits; the defaults suit tokens and key sets.
    public init(bytesMax: Int = 64 * 1024, depthMax: Int = 8, valuesMax: Int = 2048) {
        self.bytesMax = bytesMax
        self.depthMax = depthMax
        self.valuesMax = valuesMax
    }
}

extension JSONValue {
    /// Parses a whole text strictly: RFC 8259 without byte order mark, no duplicate names, no lone surrogates,
    /// valid UTF-8 only, nothing after the value but white space.
    public init(parsing bytes: some Collection<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONError) {
        guard bytes.count <= limits.bytesMax else { throw .tooLarge }
        var parser = JSONParser(bytes: Array(bytes), limits: limits)
        self = try parser.parseDocument()
    }
}

extension JSONObject {
    /// Parses a text whose outermost value must be an object; as strict as ``JSONValue/init(parsing:limits:)``.
    public init(parsing bytes: some Collection<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONError) {
        guard case .object(let object) = try JSONValue(parsing: bytes, limits: limits) else { throw .notAnObject }
        self = object
    }
}

/// A recursive descent over bytes; its depth is bounded by ``JSONLimits/depthMax``.
private struct JSONParser {
    private let bytes: [UInt8]
    private let limits: JSONLimits
    private var position = 0
    private var valueCount = 0

    init(bytes: [UInt8], limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    mutating func parseDocument() throws(JSONError) -> JSONValue {
        skipWhiteSpace()
        let value = try parseValue(depth: 0)
        skipWhiteSpace()
        guard position == bytes.count else { throw fault }
        return value
    }

    private var fault: JSONError { .syntax(byteOffset: position) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipWhiteSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d {
            position += 1
        }
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(JSONError) {
        guard next == UInt8(ascii: character) else { throw fault }
        position += 1
    }

    private mutating func skip(if character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func expectWord(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count else { throw fault }
        for index in 0..<word.utf8CodeUnitCount where bytes[position + index] != word.utf8Start[index] {
            throw fault
        }
        position = end
        return value
    }

    private mutating func parseValue(depth: Int) throws(JSONError) -> JSONValue {
        valueCount += 1
        guard valueCount <= limits.valuesMax else { throw .tooManyValues }
        guard let byte = next else { throw fault }
        switch byte {
        case UInt8(ascii: "{"): return .object(try parseObject(depth: depth + 1))
        case UInt8(ascii: "["): return .array(try parseArray(depth: depth + 1))
        case UInt8(ascii: "\""): return .string(try parseString())
        case UInt8(ascii: "t"): return try expectWord("true", .bool(true))
        case UInt8(ascii: "f"): return try expectWord("false", .bool(false))
        case UInt8(ascii: "n"): return try expectWord("null", .null)
        default: return try parseNumber()
        }
    }

    private mutating func parseObject(depth: Int) throws(JSONError) -> JSONObject {
        guard depth <= limits.depthMax else { throw .tooDeep }
        try expect("{")
        var object = JSONObject()
        var names: Set<String> = []
        skipWhiteSpace()
        if skip(if: "}") { return object }
        while true {
            skipWhiteSpace()
            let name = try parseString()
            guard names.insert(name).inserted else { throw .duplicateMember }
            skipWhiteSpace()
            try expect(":")
            skipWhiteSpace()
            object.appendUnique(name, try parseValue(depth: depth))
            skipWhiteSpace()
            if skip(if: "}") { return object }
            try expect(",")
        }
    }

    private mutating func parseArray(depth: Int) throws(JSONError) -> [JSONValue] {
        guard depth <= limits.depthMax else { throw .tooDeep }
        try expect("[")
        var elements: [JSONValue] = []
        skipWhiteSpace()
        if skip(if: "]") { return elements }
        while true {
            skipWhiteSpace()
            elements.append(try parseValue(depth: depth))
            skipWhiteSpace()
            if skip(if: "]") { return elements }
            try expect(",")
        }
    }

    private mutating func parseString() throws(JSONError) -> String {
        try expect("\"")
        var content: [UInt8] = []
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: content, as: UTF8.self) else { throw fault }
                position += 1
                return text
            case UInt8(ascii: "\\"):
                position += 1
                content.append(contentsOf: try parseEscape())
            case 0x00..<0x20:
                throw fault
            default:
                content.append(byte)
                position += 1
            }
        }
        throw fault
    }

    private mutating func parseEscape() throws(JSONError) -> [UInt8] {
        guard let byte = next else { throw fault }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0c]
        case UInt8(ascii: "n"): return [0x0a]
        case UInt8(ascii: "r"): return [0x0d]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return try parseUnicodeEscape()
        default: throw fault
        }
    }

    private mutating func parseUnicodeEscape() throws(JSONError) -> [UInt8] {
        var code = try parseHexQuad()
        if 0xd800...0xdbff ~= code {
            try expect("\\")
            try expect("u")
            let low = try parseHexQuad()
            guard 0xdc00...0xdfff ~= low else { throw fault }
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw fault }
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func parseHexQuad() throws(JSONError) -> UInt32 {
        guard position + 4 <= bytes.count else { throw fault }
        var value: UInt32 = 0
        for _ in 0..<4 {
            let byte = bytes[position]
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw fault
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    private mutating func skipDigits() throws(JSONError) {
        let start = position
        while let byte = next, 48...57 ~= byte {
            position += 1
        }
        guard position > start else { throw fault }
    }

    private mutating func parseNumber() throws(JSONError) -> JSONValue {
        let start = position
        var isInteger = true
        _ = skip(if: "-")
        if !skip(if: "0") {
            try skipDigits()
        }
        if skip(if: ".") {
            isInteger = false
            try skipDigits()
        }
        if skip(if: "e") || skip(if: "E") {
            isInteger = false
            if !skip(if: "+") { _ = skip(if: "-") }
            try skipDigits()
        }
        let literal = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let value = Int64(literal) {
            return .integer(value)
        }
        return .number(literal: literal)
    }
}
