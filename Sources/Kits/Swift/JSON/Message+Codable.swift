extension Message {
    /// Reads a message from its JSON.
    public init(from decoder: any Decoder) throws {
        let value = try JSONValue(from: decoder)
        guard case .object(let object) = value else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "It is no object.")
            )
        }
        self.init(json: object)
    }

    /// Writes the message as its JSON.
    public func encode(to encoder: any Encoder) throws { try JSONValue.object(json).encode(to: encoder) }
}

extension JSONValue: Codable {
    @usableFromInline
    package init(from decoder: any Decoder) throws {
        if let members = try? decoder.container(keyedBy: Name.self) {
            var object = JSONObject()
            for name in members.allKeys {
                object.members[name.stringValue] = try members.decode(JSONValue.self, forKey: name)
            }
            self = .object(object)
        } else if var values = try? decoder.unkeyedContainer() {
            var list: [JSONValue] = []
            while !values.isAtEnd { list.append(try values.decode(JSONValue.self)) }
            self = .list(list)
        } else {
            self = try Self.single(decoder.singleValueContainer())
        }
    }

    private static func single(_ value: any SingleValueDecodingContainer) throws -> JSONValue {
        if value.decodeNil() { return .null }
        if let bool = try? value.decode(Bool.self) { return .bool(bool) }
        if let integer = try? value.decode(Int64.self) { return .integer(integer) }
        if let number = try? value.decode(Double.self) { return .number(number) }
        return .text(try value.decode(String.self))
    }

    @usableFromInline
    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let object):
            var members = encoder.container(keyedBy: Name.self)
            for (name, value) in object.members { try members.encode(value, forKey: Name(name)) }
        case .list(let list):
            var values = encoder.unkeyedContainer()
            for value in list { try values.encode(value) }
        default:
            var single = encoder.singleValueContainer()
            switch self {
            case .bool(let bool): try single.encode(bool)
            case .integer(let integer): try single.encode(integer)
            case .number(let number): try single.encode(number)
            case .text(let text): try single.encode(text)
            default: try single.encodeNil()
            }
        }
    }

    /// The name of any member.
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }
}
