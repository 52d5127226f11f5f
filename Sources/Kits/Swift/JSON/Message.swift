import Foundation

/// A message of the API: its JSON, and properties that read it. It is `Codable` in the JSON of protobuf, so that apps can keep what they
/// have read.
@usableFromInline
package protocol Message: Codable, Hashable, Sendable {
    init(json: JSONObject)
    var json: JSONObject { get }
}

/// An enum of the API, which keeps names that this version doesn't know.
@usableFromInline
package protocol NamedValue: RawRepresentable, Codable, Hashable, Sendable where RawValue == String {
    init(rawValue: String)
    static var unspecified: Self { get }
}

/// What a field may be, on the wire.
@usableFromInline
package protocol FieldValue {
    /// Nil for a value of another form.
    init?(json: JSONValue)
    var jsonValue: JSONValue { get }
    /// What an absent field is.
    static var absent: Self { get }
    var isAbsent: Bool { get }
}

extension JSONObject {
    // A member of another form than the API's counts as absent: the server is newer, or the kit.

    @usableFromInline
    package func optional<Value: FieldValue>(_ name: String) -> Value? { self[name].flatMap(Value.init(json:)) }

    /// A field that is always there; protobuf leaves out what is empty.
    @usableFromInline
    package func value<Value: FieldValue>(_ name: String) -> Value { optional(name) ?? .absent }

    @usableFromInline
    package func list<Value: FieldValue>(_ name: String) -> [Value] {
        guard case .list(let list) = self[name] else { return [] }
        return list.compactMap(Value.init(json:))
    }

    @usableFromInline
    package func value<Value: NamedValue>(_ name: String) -> Value {
        text(name).map { Value(rawValue: $0) } ?? .unspecified
    }

    @usableFromInline
    package func value<Value: Message>(_ name: String) -> Value { Value(json: object(name) ?? JSONObject()) }

    @usableFromInline
    package func optional<Value: Message>(_ name: String) -> Value? { object(name).map(Value.init(json:)) }

    @usableFromInline
    package func list<Value: Message>(_ name: String) -> [Value] { objects(name).map(Value.init(json:)) }

    // Protobuf leaves out what is empty, unless the field has presence.

    @usableFromInline
    package mutating func set(_ name: String, _ value: some FieldValue) {
        if !value.isAbsent { members[name] = value.jsonValue }
    }

    @usableFromInline
    package mutating func set(_ name: String, _ value: (some FieldValue)?) {
        if let value { members[name] = value.jsonValue }
    }

    @usableFromInline
    package mutating func set(_ name: String, _ values: [some FieldValue]) {
        if !values.isEmpty { members[name] = .list(values.map(\.jsonValue)) }
    }

    @usableFromInline
    package mutating func set<Value: NamedValue>(_ name: String, _ value: Value) {
        if value != .unspecified { members[name] = .text(value.rawValue) }
    }

    @usableFromInline
    package mutating func set(_ name: String, _ value: some Message) {
        members[name] = .object(value.json)
    }

    @usableFromInline
    package mutating func set(_ name: String, _ value: (some Message)?) {
        if let value { members[name] = .object(value.json) }
    }

    @usableFromInline
    package mutating func set(_ name: String, _ values: [some Message]) {
        if !values.isEmpty { members[name] = .list(values.map { .object($0.json) }) }
    }
}

extension String: FieldValue {
    @usableFromInline
    package init?(json: JSONValue) {
        guard case .text(let text) = json else { return nil }
        self = text
    }

    @usableFromInline package var jsonValue: JSONValue { .text(self) }
    @usableFromInline package static var absent: String { "" }
    @usableFromInline package var isAbsent: Bool { isEmpty }
}

extension Bool: FieldValue {
    @usableFromInline
    package init?(json: JSONValue) {
        guard case .bool(let value) = json else { return nil }
        self = value
    }

    @usableFromInline package var jsonValue: JSONValue { .bool(self) }
    @usableFromInline package static var absent: Bool { false }
    @usableFromInline package var isAbsent: Bool { !self }
}

extension Int32: FieldValue {
    @usableFromInline
    package init?(json: JSONValue) {
        guard let value = Int64(json: json) else { return nil }
        self.init(exactly: value)
    }

    @usableFromInline package var jsonValue: JSONValue { .integer(Int64(self)) }
    @usableFromInline package static var absent: Int32 { 0 }
    @usableFromInline package var isAbsent: Bool { self == 0 }
}

extension Int64: FieldValue {
    /// A number, or a text as protobuf writes 64 bits.
    @usableFromInline
    package init?(json: JSONValue) {
        switch json {
        case .integer(let value): self = value
        case .number(let value): self.init(exactly: value)
        case .text(let text): self.init(text)
        default: return nil
        }
    }

    @usableFromInline package var jsonValue: JSONValue { .text(String(self)) }
    @usableFromInline package static var absent: Int64 { 0 }
    @usableFromInline package var isAbsent: Bool { self == 0 }
}

extension Date: FieldValue {
    @usableFromInline
    package init?(json: JSONValue) {
        guard case .text(let text) = json, let date = Timestamp.date(text) else { return nil }
        self = date
    }

    @usableFromInline package var jsonValue: JSONValue { .text(Timestamp.text(self)) }
    @usableFromInline package static var absent: Date { Date(timeIntervalSince1970: 0) }
    @usableFromInline package var isAbsent: Bool { false }
}
