import JOSE

/// Reads objects one by one from JSON of any size: a sequence of objects (JSON lines, or with any white space between), an array, or
/// an array that is a member of an object. Only one object at a time is in memory.
public struct JSONReader {
    /// The longest object, in bytes.
    public static let objectBytesMax = 1024 * 1024
    private static let limits = JSONLimits(bytesMax: objectBytesMax, depthMax: 32, valuesMax: 50_000)

    /// Where the next object is; part of a position.
    enum Place: Int, Sendable {
        /// At the top level.
        case outside = 0
        /// In a top-level array.
        case array = 1
        /// In the array that is a member of the top-level object.
        case member = 2
    }

    /// An object, nil if it can't be read, and its number, from 1.
    struct Element {
        let number: Int64
        let object: JSONObject?
    }

    var input: ByteInput
    private(set) var place: Place
    /// The number of objects read so far.
    private(set) var count: Int64
    /// The offset at which the last read object begins.
    private(set) var start: Int64 = 0
    /// The member whose array contains the objects; nil if there is none.
    let member: String?
    /// Whether an element came before in this array.
    private var isBehindElement: Bool
    /// Whether an element must follow.
    private var isBehindComma = false
    private var bytes: [UInt8] = []

    /// A reader from the current position of the input.
    init(_ input: ByteInput, member: String?, place: Place = .outside, count: Int64 = 0) {
        self.input = input
        self.member = member
        self.place = place
        self.count = count
        isBehindElement = place != .outside
    }

    /// The next object; nil at the end.
    mutating func next() throws(ImportError) -> Element? {
        while true {
            let byte = try skipSpace()
            switch (place, byte) {
            case (.outside, nil): return nil
            case (_, nil): throw input.fault("the file ends in the middle: \(place == .array ? "]" : "]}") is missing")
            case (.outside, UInt8(ascii: "[")):
                _ = try input.next()
                (place, isBehindElement) = (.array, false)
            case (.array, UInt8(ascii: "]")) where !isBehindComma, (.member, UInt8(ascii: "]")) where !isBehindComma:
                _ = try input.next()
                if place == .member { try skipRestOfObject() }
                place = .outside
            case (.array, UInt8(ascii: ",")) where isBehindElement, (.member, UInt8(ascii: ",")) where isBehindElement:
                _ = try input.next()
                (isBehindElement, isBehindComma) = (false, true)
            case (_, UInt8(ascii: "{")) where place == .outside || !isBehindElement:
                if let element = try readObject() { return element }
            default: throw input.fault("this is not JSON with objects")
            }
        }
    }

    /// Reads an object; nil if it turns out to be the one whose member has the array.
    private mutating func readObject() throws(ImportError) -> Element? {
        let (line, isOutside) = (input.line, place == .outside)
        start = input.offset
        bytes.removeAll(keepingCapacity: true)
        var depth = 0
        while let byte = try input.next() {
            bytes.append(byte)
            switch byte {
            case UInt8(ascii: "\""):
                let begin = bytes.count
                try readString(from: line)
                if isOutside, depth == 1, let member, bytes[begin..<(bytes.count - 1)].elementsEqual(member.utf8),
                    try isArrayNext()
                {
                    (place, isBehindElement) = (.member, false)
                    return nil
                }
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 {
                    (isBehindElement, isBehindComma) = (true, false)
                    let object = try? JSONObject(parsing: bytes, limits: Self.limits)
                    count += 1
                    return Element(number: count, object: object)
                }
            default: break
            }
            try checkSize(from: line)
        }
        throw input.fault("an object has no end", line: line)
    }

    /// Reads a string after its first quote.
    private mutating func readString(from line: Int64) throws(ImportError) {
        var isEscaped = false
        while let byte = try input.next() {
            bytes.append(byte)
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                return
            }
            try checkSize(from: line)
        }
        throw input.fault("a string has no end", line: line)
    }

    private func checkSize(from line: Int64) throws(ImportError) {
        guard bytes.count > Self.objectBytesMax else { return }
        throw input.fault(
            "an object of more than \(Self.objectBytesMax) bytes"
                + (member.map { ": it has no array \"\($0)\", or what comes before that is too long" } ?? ""),
            line: line
        )
    }

    /// Returns whether a colon and the beginning of an array follow, and consumes them. A consumed colon before another value is
    /// kept.
    private mutating func isArrayNext() throws(ImportError) -> Bool {
        guard try skipSpace() == UInt8(ascii: ":") else { return false }
        _ = try input.next()
        bytes.append(UInt8(ascii: ":"))
        guard try skipSpace() == UInt8(ascii: "[") else { return false }
        _ = try input.next()
        return true
    }

    /// Skips the rest of the object after the array; it needn't fit into memory.
    private mutating func skipRestOfObject() throws(ImportError) {
        var depth = 1
        while let byte = try input.next() {
            switch byte {
            case UInt8(ascii: "\""):
                bytes.removeAll(keepingCapacity: true)
                try readString(from: input.line)
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return }
            default: break
            }
        }
        throw input.fault("the file ends in the middle: } is missing")
    }

    /// The next byte that isn't white space, without consuming it.
    private mutating func skipSpace() throws(ImportError) -> UInt8? {
        while let byte = try input.peek() {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): _ = try input.next()
            default: return byte
            }
        }
        return nil
    }
}
