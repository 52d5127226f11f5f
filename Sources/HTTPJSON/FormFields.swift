import HTTPTypes

/// Why a text is no form.
public enum FormError: Error, Sendable, Hashable {
    /// An escape that is none, or bytes that are no UTF-8.
    case malformed
    /// More fields than ``FormFields/fieldsMax``.
    case tooManyFields
}

/// The fields of an `application/x-www-form-urlencoded` text (WHATWG URL, section 5): a form's body, or a URL's query.
public struct FormFields: Sendable {
    /// The most fields that a form may have.
    public static let fieldsMax = 64

    /// Names and values in their order, decoded.
    public private(set) var fields: [(name: String, value: String)] = []

    /// No fields.
    public init() {}

    /// Reads a text; strict where browsers are lenient: a bad escape is a fault.
    public init(parsing bytes: some Collection<UInt8>) throws(FormError) {
        // An array: collections of other kinds take several times as long to walk through.
        for part in Array(bytes).split(separator: UInt8(ascii: "&")) {
            guard fields.count < Self.fieldsMax else { throw .tooManyFields }
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let value = pair.count > 1 ? try Self.decode(pair[1]) : ""
            fields.append((try Self.decode(pair[0]), value))
        }
    }

    /// The value of a field; nil if there is none. Of a field that comes more than once the first, see ``repeatedName``.
    public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// A name that comes more than once, which OAuth forbids (RFC 6749 section 3.1); nil if none does.
    public var repeatedName: String? {
        var seen: Set<String> = []
        return fields.first { !seen.insert($0.name).inserted }?.name
    }

    /// A text as a form or a query carries it: all but unreserved characters (RFC 3986 section 2.3) are escaped.
    public static func encode(_ text: String) -> String {
        let count = text.utf8.reduce(into: 0) { count, byte in count += isUnreserved(byte) ? 1 : 3 }
        guard count != text.utf8.count else { return text }
        return String(unsafeUninitializedCapacity: count) { buffer in
            var end = 0
            for byte in text.utf8 {
                if isUnreserved(byte) {
                    buffer[end] = byte
                    end += 1
                } else {
                    buffer[end] = UInt8(ascii: "%")
                    buffer[end + 1] = HexDigit.upper(byte >> 4)
                    buffer[end + 2] = HexDigit.upper(byte & 15)
                    end += 3
                }
            }
            return end
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func decode(_ bytes: ArraySlice<UInt8>) throws(FormError) -> String {
        let isEscaped = bytes.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "%") }
        guard let text = String(validating: isEscaped ? try unescaped(bytes) : bytes, as: UTF8.self) else {
            throw .malformed
        }
        return text
    }

    private static func unescaped(_ bytes: ArraySlice<UInt8>) throws(FormError) -> ArraySlice<UInt8> {
        var decoded: ArraySlice<UInt8> = []
        decoded.reserveCapacity(bytes.count)
        var iterator = bytes.makeIterator()
        while let byte = iterator.next() {
            switch byte {
            case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = iterator.next().flatMap(HexDigit.value),
                    let low = iterator.next().flatMap(HexDigit.value)
                else {
                    throw .malformed
                }
                decoded.append(high << 4 | low)
            default: decoded.append(byte)
            }
        }
        return decoded
    }
}

extension FormFields {
    /// The fields of a request's query.
    ///
    /// - Throws: 400 for a malformed one.
    public init(queryOf request: Request) throws(Problem) {
        do {
            self = try FormFields(parsing: (request.uri.query ?? "").utf8)
        } catch {
            throw Problem(.badRequest, code: "FORM_MALFORMED", detail: "The query is malformed.", cause: error)
        }
    }
}
