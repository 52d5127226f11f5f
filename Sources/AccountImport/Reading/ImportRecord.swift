import JOSE

/// A row's values by name, whatever its format. An empty text counts as none.
public struct ImportRecord: Sendable {
    private enum Content: Sendable {
        case fields([String], columns: [String: Int])
        case object(JSONObject)
    }

    private let content: Content

    init(fields: [String], columns: [String: Int]) { content = .fields(fields, columns: columns) }

    init(_ object: JSONObject) { content = .object(object) }

    /// The value of a column or a member; numbers and booleans as texts.
    func text(_ name: String) -> String? {
        switch content {
        case .fields(let fields, let columns):
            guard let column = columns[name] else { return nil }
            return fields[column].isEmpty ? nil : fields[column]
        case .object(let object): return object.text(name)
        }
    }

    /// Returns whether a value is true: `t`, `true` or 1, in any case.
    func isTrue(_ name: String) -> Bool {
        ["t", "true", "1"].contains(text(name)?.lowercased())
    }

    /// A value that is an object, or a text with a JSON object.
    func object(_ name: String) -> JSONObject? {
        if case .object(let object) = content, let inner = object[name]?.object { return inner }
        return text(name).flatMap { try? JSONObject(parsing: Array($0.utf8), limits: Self.limits) }
    }

    /// The objects of a value that is an array, or a text with a JSON array.
    func objects(_ name: String) -> [JSONObject]? {
        if case .object(let object) = content, let inner = object[name]?.array { return inner.compactMap(\.object) }
        guard let text = text(name),
            case .array(let values)? = try? JSONValue(parsing: Array(text.utf8), limits: Self.limits)
        else { return nil }
        return values.compactMap(\.object)
    }

    private static let limits = JSONLimits(bytesMax: 256 * 1024, depthMax: 32, valuesMax: 20_000)
}

extension JSONObject {
    /// A member as a text; nil if it is empty or no scalar.
    func text(_ name: String) -> String? {
        switch self[name] {
        case .string(let text): text.isEmpty || text.utf8.contains(0) ? nil : text
        case .integer(let value): String(value)
        case .number(let literal): literal
        case .bool(let value): value ? "true" : "false"
        case .null, .array, .object, nil: nil
        }
    }
}
