import HTTP
import HTTPTypes
import RPC

/// A request's head, as routes read it.
public struct Request: Sendable {
    private let exchange: HTTPExchange

    /// The request of an exchange.
    init(_ exchange: HTTPExchange) { self.exchange = exchange }

    /// The head as the transport read it.
    var head: HTTPRequestHead { exchange.head }

    /// The method.
    public var method: HTTPRequest.Method { exchange.head.method }
    /// The host and port that the client meant; nil where it did not say.
    public var authority: String? {
        let authority = exchange.head.authority
        return authority.isEmpty ? nil : authority
    }
    /// Path and query.
    public var uri: RequestTarget { RequestTarget(exchange.head.target) }
    /// The fields.
    public var headers: RequestFields { RequestFields(exchange.head.fields) }
}

/// Path and query of a request, as they were sent.
public struct RequestTarget: Sendable {
    private let text: String

    /// The parts of a target in origin-form (RFC 9112 section 3.2.1).
    init(_ text: String) { self.text = text }

    /// The path, without the query.
    public var path: String {
        guard let mark else { return text }
        return String(text[..<mark])
    }

    /// The query without its question mark; nil if there is none.
    public var query: String? {
        guard let mark else { return nil }
        return String(text[text.utf8.index(after: mark)...])
    }

    /// The query's parameters.
    public var queryParameters: QueryParameters { QueryParameters(query ?? "") }

    private var mark: String.Index? { text.utf8.firstIndex(of: UInt8(ascii: "?")) }
}

/// The parameters of a query (RFC 3986 section 3.4), in their order. Read leniently: a bad escape stays as it is, and a plus is
/// a plus. ``FormFields`` reads forms.
public struct QueryParameters: Sendable {
    private let query: String

    init(_ query: String) { self.query = query }

    /// The first value of a name, its escapes decoded; nil if there is none.
    public func get(_ name: String) -> String? {
        for part in query.utf8.split(separator: UInt8(ascii: "&")) {
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard pair[0].elementsEqual(name.utf8) else { continue }
            guard pair.count == 2 else { return "" }
            return Self.decoded(pair[1]) ?? String(decoding: pair[1], as: UTF8.self)
        }
        return nil
    }

    /// As ``get(_:)``.
    public subscript(name: String) -> String? {
        get { get(name) }
    }

    private static func decoded(_ bytes: Substring.UTF8View) -> String? {
        var decoded: [UInt8] = []
        var iterator = bytes.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = iterator.next().flatMap(HexDigit.value), let low = iterator.next().flatMap(HexDigit.value)
            else { return nil }
            decoded.append(high << 4 | low)
        }
        return String(validating: decoded, as: UTF8.self)
    }
}

/// Hexadecimal digits.
enum HexDigit {
    /// What a digit stands for, in capitals or not; nil for any other character.
    static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The digit for a value of 0 to 15, in capitals.
    static func upper(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") - 10 + value
    }
}

/// The fields of a request, which are looked up where they lie.
public struct RequestFields: Sendable {
    private let metadata: Metadata

    /// The fields of a head, or the metadata of a call.
    public init(_ metadata: Metadata) { self.metadata = metadata }

    /// The value of a field; of one that comes more than once all of them, joined as RFC 9110 section 5.3 and for Cookie
    /// RFC 9113 section 8.2.3 have it. Nil if there is none.
    public subscript(name: HTTPField.Name) -> String? {
        if let value = metadata.only(name.canonicalName) { return value }
        guard contains(name) else { return nil }
        return self[values: name].joined(separator: name == .cookie ? "; " : ", ")
    }

    /// The value of a field as the subscript gives it, in UTF-8: where it lies, if it came once.
    public func bytes(of name: HTTPField.Name) -> ArraySlice<UInt8>? {
        metadata.onlyBytes(name.canonicalName) ?? self[name].map { ArraySlice($0.utf8) }
    }

    /// All values of a field, in their order.
    public subscript(values name: HTTPField.Name) -> [String] { metadata.all(name.canonicalName) }

    /// The same fields with a bearer token (RFC 6750) in the place of any credentials and cookies that came.
    public func carrying(bearerToken: String) -> RequestFields {
        var changed = metadata.selecting { name, _ in
            !name.elementsEqual("authorization".utf8) && !name.elementsEqual("cookie".utf8)
        }
        changed.add("authorization", "Bearer \(bearerToken)")
        return RequestFields(changed)
    }

    /// Whether there is such a field.
    public func contains(_ name: HTTPField.Name) -> Bool { metadata.first(name.canonicalName) != nil }
}
