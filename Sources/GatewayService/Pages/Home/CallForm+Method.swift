import API
import HTTPTypes
import JOSE
import RPC
import WebPages

extension CallForm {
    /// The form of a method: of its route if it has one, else of its call by Connect. The fields are those of its message.
    init(_ example: MethodExample, route: AppRoute?) {
        let described = example.described
        self.init(id: described.operationID, method: route?.httpMethod.rawValue ?? "POST", path: route?.path ?? "")
        connectPath = example.method.path
        needsToken = described.options.caller != .anyone
        sets = ShellVariables.sources[id] ?? ""
        parts = described.request.fields.filter { !$0.isHidden }.map { field in
            guard case .message(let shape) = field.kind else {
                return .field(
                    Field(field, at: [], example.example, place: route?.place(of: field) ?? .body, route: route)
                )
            }
            let name = field.isRepeated ? [field.name, "0"] : [field.name]
            let inner = example.example[field.name]
            let object = (field.isRepeated ? inner?.array?.first : inner)?.object ?? JSONObject()
            return .group(
                name: field.name,
                isArray: field.isRepeated,
                hint: field.description,
                fields: shape.fields.filter { !$0.isHidden }.map {
                    Field($0, at: name, object, place: .body, route: route)
                }
            )
        }
    }

    /// The form of a route that takes nothing; nil if it takes something.
    init?(_ operation: OpenAPI.Operation) {
        guard operation.body == nil, operation.parameters.isEmpty, operation.caller != .client,
            let call = RouteExamples.request(operation), call.headers.isEmpty, call.target == operation.path
        else { return nil }
        self.init(id: operation.id, method: operation.method.rawValue, path: operation.path)
        needsToken = call.needsToken
    }

    /// The form of the stream of changes.
    static var watchGroups: CallForm {
        let operation = WatchGroupsRoute.operation
        var form = CallForm(id: operation.id, method: operation.method.rawValue, path: operation.path)
        form.needsToken = true
        form.isStream = true
        form.button = "Watch"
        return form
    }
}

extension CallForm.Field {
    fileprivate init(
        _ field: FieldShape,
        at prefix: [String],
        _ example: JSONObject,
        place: CallForm.Place,
        route: AppRoute?
    ) {
        // Of a segment of a path, and by Connect, a field has the proto's name.
        let own = place == .path || route == nil ? field.protoName : field.name
        self.init((prefix + [own]).joined(separator: "."))
        connectName = own == field.protoName ? nil : (prefix + [field.protoName]).joined(separator: ".")
        self.place = place
        header = place == .header ? field.options.header : nil
        hint = field.description
        let value = example[field.name]
        // The messages of methods without a route don't say what they need; their examples have it.
        isRequired = route == nil ? value != nil : place == .path || !field.isOptional
        lengthMax = field.options.maxLength == 0 ? nil : Int(field.options.maxLength)
        pattern = field.options.pattern.isEmpty ? nil : field.options.pattern
        switch field.kind {
        case .text: kind = field.options.words.isEmpty ? .text : .words(field.options.words.map { ($0, nil) })
        case .integer:
            let options = field.options
            let isBounded = options.hasMinimum && options.hasMaximum && options.minimum <= options.maximum
            kind = .integer(isBounded ? options.minimum...options.maximum : nil)
        case .truth: kind = .truth
        case .word(let words):
            let accepted = Set(field.accepted(words))
            kind = .words(words.words.filter { accepted.contains($0.word) }.map { ($0.word, $0.number) })
        case .moment, .message: break
        }
        if let text = value?.string, text.hasPrefix("$") {
            variable = String(text.dropFirst())
        } else if let value {
            self.value = value.string ?? String(decoding: value.serialized(), as: UTF8.self)
        }
    }
}

extension AppRoute {
    /// Where the route reads a field.
    fileprivate func place(of field: FieldShape) -> CallForm.Place {
        let fields: [(CallForm.Place, [FieldShape])] = [
            (.path, pathFields), (.query, queryFields), (.header, headerFields),
        ]
        return fields.first { $1.contains { $0.number == field.number } }?.0 ?? .body
    }
}
