/// A CBOR item (RFC 8949) of the kinds that WebAuthn needs.
package enum CBORValue: Sendable, Equatable {
    /// An integer from 0.
    case unsigned(UInt64)
    /// A negative integer: −1 minus this number.
    case negative(UInt64)
    /// A byte string: the place in the bytes that were read.
    case bytes(ArraySlice<UInt8>)
    /// A text string.
    case text(String)
    /// An array.
    case array([CBORValue])
    /// A map.
    case map(CBORMap)
    /// A Boolean value.
    case bool(Bool)
    /// Null.
    case null

    /// The integer, if it is one that fits.
    package var integer: Int64? {
        switch self {
        case .unsigned(let number): Int64(exactly: number)
        case .negative(let number): Int64(exactly: number).map { -1 - $0 }
        case .bytes, .text, .array, .map, .bool, .null: nil
        }
    }

    /// The bytes, if it is a byte string.
    package var bytes: ArraySlice<UInt8>? {
        if case .bytes(let value) = self { value } else { nil }
    }

    /// The text, if it is one.
    package var text: String? {
        if case .text(let value) = self { value } else { nil }
    }

    /// The map, if it is one.
    package var map: CBORMap? {
        if case .map(let value) = self { value } else { nil }
    }

    /// The elements, if it is an array.
    package var array: [CBORValue]? {
        if case .array(let value) = self { value } else { nil }
    }
}

/// A CBOR map: entries in order, each key once, and each key an integer or a text.
package struct CBORMap: Sendable, Equatable {
    /// A key and its value.
    package struct Entry: Sendable, Equatable {
        package let key: CBORValue
        package let value: CBORValue
    }

    /// The entries in the order in which they were read.
    package let entries: [Entry]

    /// The value at an integer key, or nil.
    package subscript(key: Int64) -> CBORValue? {
        entries.first { $0.key.integer == key }?.value
    }

    /// The value at a text key of the same bytes, or nil: `String`'s own comparison takes different bytes for equal.
    package subscript(key: String) -> CBORValue? {
        entries.first { $0.key.text.map { $0.utf8.elementsEqual(key.utf8) } == true }?.value
    }

    /// Whether every key is a text.
    package var hasOnlyTextKeys: Bool { entries.allSatisfy { $0.key.text != nil } }
}
