import JOSE

extension OpenAPI {
    /// A JSON Schema (draft 2020-12), with the keywords that the description uses.
    struct Schema: Sendable {
        /// What stands where the schema is used: its keywords, or a reference to where it stands by name.
        let json: JSONObject
        /// Its name among the document's components, if it has one.
        let name: String?
        /// The named schemas that it is made of, itself included.
        let components: [String: JSONObject]

        init(_ json: JSONObject, name: String? = nil, components: [String: JSONObject] = [:]) {
            self.json = json
            self.name = name
            self.components = components
        }

        /// The same schema, which stands once in the document and is referred to by its name.
        func named(_ name: String) -> Schema {
            var components = components
            components.add(name, json)
            return Schema(["$ref": .string("#/components/schemas/\(name)")], name: name, components: components)
        }
    }
}

extension OpenAPI.Schema {
    /// A member of an object.
    struct Member: Sendable {
        let name: String
        let schema: OpenAPI.Schema?
        let isRequired: Bool

        /// A member that is always there; without a schema it may be any value.
        static func required(_ name: String, _ schema: OpenAPI.Schema? = nil) -> Member {
            Member(name: name, schema: schema, isRequired: true)
        }

        /// A member that may be absent.
        static func optional(_ name: String, _ schema: OpenAPI.Schema) -> Member {
            Member(name: name, schema: schema, isRequired: false)
        }
    }

    /// What a text means (JSON Schema Validation section 7.3).
    enum Format: String {
        /// RFC 9562 section 4.
        case uuid
        /// RFC 3339 section 5.6.
        case dateTime = "date-time"
    }

    /// A text; lengths count code points, and the pattern is a regular expression of ECMA-262.
    static func text(
        _ description: String? = nil,
        minLength: Int? = nil,
        maxLength: Int? = nil,
        pattern: String? = nil,
        format: Format? = nil,
        orNull: Bool = false
    ) -> Self {
        var json = typed("string", orNull: orNull)
        json["minLength"] = minLength.map { .integer(Int64($0)) }
        json["maxLength"] = maxLength.map { .integer(Int64($0)) }
        json["pattern"] = pattern.map { .string($0) }
        json["format"] = (format?.rawValue).map { .string($0) }
        json["description"] = description.map { .string($0) }
        return Self(json)
    }

    /// Bytes that are no text: in the words of OpenAPI 3.1, and those of 3.0, which generators of clients know.
    static let binary = Self([
        "type": "string", "format": "binary", "contentMediaType": "application/octet-stream",
    ])
    /// A UUID.
    static let uuid = text(format: .uuid)
    /// A moment in UTC.
    static let moment = text(format: .dateTime)
    /// A truth value.
    static let bool = Self(["type": "boolean"])

    /// A truth value with a description.
    static func boolean(_ description: String, orNull: Bool = false) -> Self {
        var json = typed("boolean", orNull: orNull)
        json["description"] = .string(description)
        return Self(json)
    }

    /// A whole number.
    static func integer(
        _ description: String? = nil,
        minimum: Int? = nil,
        maximum: Int? = nil,
        default value: Int? = nil,
        orNull: Bool = false
    ) -> Self {
        var json = typed("integer", orNull: orNull)
        json["minimum"] = minimum.map { .integer(Int64($0)) }
        json["maximum"] = maximum.map { .integer(Int64($0)) }
        json["default"] = value.map { .integer(Int64($0)) }
        json["description"] = description.map { .string($0) }
        return Self(json)
    }

    /// One value and no other.
    static func constant(_ value: JSONValue) -> Self { Self(["const": value]) }

    /// One of these texts.
    static func oneOf(_ words: [String]) -> Self { Self(["enum": .array(words.map { .string($0) })]) }

    /// One of these texts, each with a description (`x-enum-descriptions`, which some generators read).
    static func words(_ words: [(name: String, description: String)], _ description: String) -> Self {
        Self([
            "type": "string",
            "description": .string(description),
            "enum": .array(words.map { .string($0.name) }),
            "x-enum-descriptions": .array(words.map { .string($0.description) }),
        ])
    }

    /// An array.
    static func list(
        of element: Self,
        _ description: String? = nil,
        minItems: Int? = nil,
        maxItems: Int? = nil,
        orNull: Bool = false
    ) -> Self {
        var json = typed("array", orNull: orNull)
        json["items"] = .object(element.json)
        json["minItems"] = minItems.map { .integer(Int64($0)) }
        json["maxItems"] = maxItems.map { .integer(Int64($0)) }
        json["description"] = description.map { .string($0) }
        return Self(json, components: element.components)
    }

    /// An object with these members, and others that are not described.
    static func object(_ members: [Member], description: String? = nil, orNull: Bool = false) -> Self {
        var json = typed("object", orNull: orNull)
        let required = members.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { json["required"] = .array(required) }
        var properties = JSONObject()
        var components: [String: JSONObject] = [:]
        for member in members {
            guard let schema = member.schema else { continue }
            properties[member.name] = .object(schema.json)
            components.add(schema.components)
        }
        if !properties.members.isEmpty { json["properties"] = .object(properties) }
        json["description"] = description.map { .string($0) }
        return Self(json, components: components)
    }

    /// The same object, of which at least one of these members is a text that is not empty.
    func requiringText(inOneOf names: [String]) -> Self {
        var json = json
        json["anyOf"] = .array(
            names.map { name in
                ["required": [.string(name)], "properties": .object(Self.present(name))]
            }
        )
        return Self(json, components: components)
    }

    private static func present(_ name: String) -> JSONObject {
        var json = JSONObject()
        json[name] = ["type": "string", "minLength": 1]
        return json
    }

    /// An object whose members have names of any kind, and values of one.
    static func map(to value: Self) -> Self {
        var json = typed("object", orNull: false)
        json["additionalProperties"] = .object(value.json)
        return Self(json, components: value.components)
    }

    private static func typed(_ type: JSONValue, orNull: Bool) -> JSONObject {
        ["type": orNull ? [type, "null"] : type]
    }
}
