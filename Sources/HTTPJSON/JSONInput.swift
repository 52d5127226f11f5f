import HTTPTypes
import JOSE

/// A request's JSON object, read field by field: takes note of every fault, so that all are reported together.
///
/// An unknown field is a fault where the route names the fields that it knows (``Route/bodyFields``), else it is ignored. A wrong
/// type is a fault that names the field; absent and null are the same for optional fields.
public struct JSONInput: Sendable {
    private let object: JSONObject
    private let prefix: String
    private var faults: [Problem.Field] = []

    /// Reads an object; `prefix` is put before field names in faults.
    ///
    /// - Parameter fields: the fields that it may have, any other being a fault; nil if unknown fields are ignored.
    public init(_ object: JSONObject, prefix: String = "", fields: JSONFieldNames? = nil) {
        self.object = object
        self.prefix = prefix
        faults = fields?.faults(of: object, prefix: prefix) ?? []
    }

    /// Whether the field is there, be it null.
    public func contains(_ name: String) -> Bool { object[name] != nil }

    /// Whether the field is there and null.
    public func isNull(_ name: String) -> Bool { object[name] == .null }

    /// Whether a fault was noted so far.
    public var hasFaults: Bool { !faults.isEmpty }

    /// A text that must be there and not empty; empty after a fault.
    public mutating func string(_ name: String) -> String {
        guard contains(name) else {
            addError(name, code: "REQUIRED", detail: "This field is required.")
            return ""
        }
        guard let text = object[name]?.string else {
            addWrongType(name, expected: "a text")
            return ""
        }
        if text.isEmpty { addError(name, code: "REQUIRED", detail: "This field must not be empty.") }
        return text
    }

    /// A text that may be absent, null or empty.
    public mutating func optionalString(_ name: String) -> String? {
        optional(name, expected: "a text") { $0.string }
    }

    /// A truth value that may be absent or null.
    public mutating func optionalBool(_ name: String) -> Bool? {
        optional(name, expected: "true or false") { $0.bool }
    }

    /// A whole number within a range that may be absent or null. Some languages write 3 as 3.0.
    public mutating func optionalInteger(_ name: String, in range: ClosedRange<Int64>) -> Int64? {
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard let number = optional(name, expected: expected, { $0.integer ?? Self.whole($0) }) else { return nil }
        guard range.contains(number) else {
            addError(name, code: "OUT_OF_RANGE", detail: "This field must be \(expected).")
            return nil
        }
        return number
    }

    /// The integer of a number that is written with a fraction of zeros.
    private static func whole(_ value: JSONValue) -> Int64? {
        guard case .number(let literal) = value else { return nil }
        let parts = literal.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.allSatisfy({ $0 == UInt8(ascii: "0") }) else { return nil }
        return Int64(parts[0])
    }

    /// An array of texts that may be absent or null.
    public mutating func optionalStrings(_ name: String) -> [String]? {
        optional(name, expected: "an array of texts") { value in
            guard let elements = value.array else { return nil }
            let texts = elements.compactMap(\.string)
            return texts.count == elements.count ? texts : nil
        }
    }

    /// An object that may be absent or null.
    public mutating func optionalObject(_ name: String) -> JSONObject? {
        optional(name, expected: "an object") { $0.object }
    }

    /// An array of objects that must be there, each read with names under its own (`name[3].`); empty after a fault.
    public mutating func objects(_ name: String) -> [JSONInput] {
        guard contains(name), !isNull(name) else {
            addError(name, code: "REQUIRED", detail: "This field is required.")
            return []
        }
        let objects: [JSONObject]? = optional(name, expected: "an array of objects") { value in
            guard let elements = value.array else { return nil }
            let objects = elements.compactMap(\.object)
            return objects.count == elements.count ? objects : nil
        }
        return (objects ?? []).enumerated().map { JSONInput($1, prefix: "\(prefix)\(name)[\($0)].") }
    }

    /// An object that must be there, read with names under its own; empty after a fault.
    public mutating func object(_ name: String) -> JSONInput {
        if !contains(name) || isNull(name) { addError(name, code: "REQUIRED", detail: "This field is required.") }
        return JSONInput(optionalObject(name) ?? JSONObject(), prefix: "\(prefix)\(name).")
    }

    /// An object that may be absent or null, read with names under its own; empty if it is absent.
    public mutating func nested(_ name: String) -> JSONInput {
        JSONInput(optionalObject(name) ?? JSONObject(), prefix: "\(prefix)\(name).")
    }

    /// Notes a fault of a field.
    public mutating func addError(_ name: String, code: String, detail: String) {
        faults.append(Problem.Field(prefix + name, code: code, detail: detail))
    }

    /// Takes over the faults of a nested object.
    public mutating func adopt(_ other: JSONInput) {
        faults += other.faults
    }

    /// Ends the reading.
    ///
    /// - Throws: 400 with every fault, if there is any.
    public func finish() throws(Problem) {
        guard !faults.isEmpty else { return }
        throw Problem(
            .badRequest,
            code: "REQUEST_INVALID",
            detail: "The request does not have the form that this path expects.",
            fields: faults
        )
    }

    private mutating func optional<Value>(
        _ name: String,
        expected: String,
        _ read: (JSONValue) -> Value?
    ) -> Value? {
        guard let value = object[name], value != .null else { return nil }
        guard let result = read(value) else {
            addWrongType(name, expected: expected)
            return nil
        }
        return result
    }

    private mutating func addWrongType(_ name: String, expected: String) {
        addError(name, code: "WRONG_TYPE", detail: "This field must be \(expected).")
    }
}
