/// A JSON value (RFC 8259) that was parsed strictly or is to be written.
///
/// Numbers stay exact: an integer that fits is an `Int64`; any other number keeps its literal, because a `Double` would
/// change large ids, and two different documents could have equal values.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without fraction and exponent that fits an `Int64`.
    case integer(Int64)
    /// Any other number, as its literal.
    case number(literal: String)
    /// A string; valid Unicode always.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object(JSONObject)

    /// The string, if it is one.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The Boolean value, if it is one.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The integer, if it is one that fits.
    public var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The elements, if it is an array.
    public var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The object, if it is one.
    public var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// Whole seconds of a NumericDate (RFC 7519 section 2): an integer, or a plain decimal fraction rounded down.
    /// Nil for other types, for exponents, and for numbers that do not fit.
    public var numericDateSeconds: Int64? {
        switch self {
        case .integer(let value):
            return value
        case .number(let literal):
            let parts = literal.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, let whole = Int64(parts[0]), parts[1].utf8.allSatisfy({ 48...57 ~= $0 }) else {
                return nil
            }
            let isBelowWhole = literal.utf8.first == UInt8(ascii: "-") && parts[1].utf8.contains { $0 != 48 }
            return isBelowWhole ? (whole == .min ? nil : whole - 1) : whole
        case .null, .bool, .string, .array, .object:
            return nil
        }
    }
}

/// A JSON object: members in order, each name once.
public struct JSONObject: Sendable, Hashable {
    /// A name and its value.
    public struct Member: Sendable, Hashable {
        /// The name, unescaped.
        public let name: String
        /// The value.
        public var value: JSONValue

        /// A member.
        public init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The members in the order in which they were read or added.
    public private(set) var members: [Member] = []

    /// An empty object.
    public init() {}

    /// The value of a member, or nil if there is none of that name. Setting nil removes it; setting a new name adds
    /// it at the end.
    public subscript(name: String) -> JSONValue? {
        get {
            members.first { $0.name == name }?.value
        }
        set {
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// Adds a member whose name the caller knows to be new; linear look-ups over a hostile object would be quadratic.
    mutating func appendUnique(_ name: String, _ value: JSONValue) {
        members.append(Member(name: name, value: value))
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object of the given members; the last one wins if a name is repeated.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (name, value) in elements {
            self[name] = value
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A Boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object; the last one wins if a name is repeated.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (name, value) in elements {
            object[name] = value
        }
        self = .object(object)
    }
}
