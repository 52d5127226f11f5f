import Foundation

/// A value of JSON (RFC 8259).
@usableFromInline
package enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A number without a fraction and exponent that fits.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object(JSONObject)
}

/// An object of JSON. The order of its members is lost.
@usableFromInline
package struct JSONObject: Sendable, Hashable {
    package var members: [String: JSONValue]

    @usableFromInline
    package init(_ members: [String: JSONValue] = [:]) { self.members = members }

    /// Reads the text of an object.
    ///
    /// - Throws: if it is none.
    package init(parsing bytes: some Sequence<UInt8>) throws(JSONFault) {
        var parser = JSONParser(Array(bytes))
        guard case .object(let object) = try parser.parse() else { throw JSONFault(place: "the text") }
        self = object
    }

    /// The text.
    package var serialized: Data {
        var writer = JSONWriter()
        writer.write(.object(self))
        return Data(writer.bytes)
    }

    /// A member; nil if it is absent or null.
    package subscript(name: String) -> JSONValue? {
        guard let value = members[name], value != .null else { return nil }
        return value
    }

    /// A text; nil if it is absent or something else.
    package func text(_ name: String) -> String? {
        guard case .text(let text) = self[name] else { return nil }
        return text
    }

    /// An object; nil if it is absent or something else.
    package func object(_ name: String) -> JSONObject? {
        guard case .object(let object) = self[name] else { return nil }
        return object
    }

    /// The objects of a list; empty if it is absent or something else.
    package func objects(_ name: String) -> [JSONObject] {
        guard case .list(let values) = self[name] else { return [] }
        return values.compactMap { value in
            guard case .object(let object) = value else { return nil }
            return object
        }
    }
}

/// JSON that has another form than the API's.
package struct JSONFault: Error, Sendable, Hashable {
    /// The name of a member, or where the text can't be read. Never a value.
    let place: String
}
