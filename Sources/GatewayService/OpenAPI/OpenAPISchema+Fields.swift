import HTTPJSON
import JOSE

extension OpenAPI.Schema {
    /// The names of the fields that an object of this schema may have; nil where it names none, and everything is allowed.
    var fieldNames: JSONFieldNames? { Self.fieldNames(json, components) }

    private static func fieldNames(_ json: JSONObject, _ components: [String: JSONObject]) -> JSONFieldNames? {
        if let name = json["$ref"]?.string?.split(separator: "/").last {
            return components[String(name)].flatMap { fieldNames($0, components) }
        }
        if let items = json["items"]?.object { return fieldNames(items, components) }
        guard let properties = json["properties"]?.object else { return nil }
        return JSONFieldNames(
            Dictionary(
                uniqueKeysWithValues: properties.members.map { property in
                    (property.name, property.value.object.flatMap { fieldNames($0, components) })
                }
            )
        )
    }

    /// The same, whose objects have no fields but those that they name, for the bodies of requests.
    var refusingUnknownFields: Self {
        Self(Self.closed(json), name: name, components: components.mapValues(Self.closed))
    }

    private static func closed(_ json: JSONObject) -> JSONObject {
        var json = json
        if let items = json["items"]?.object { json["items"] = .object(closed(items)) }
        guard let properties = json["properties"]?.object else { return json }
        var closedProperties = JSONObject()
        for property in properties.members {
            closedProperties[property.name] = property.value.object.map { .object(closed($0)) } ?? property.value
        }
        json["properties"] = .object(closedProperties)
        json["additionalProperties"] = false
        return json
    }
}
