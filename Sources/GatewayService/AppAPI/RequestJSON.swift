import API
import HTTPJSON
import JOSE

/// Makes a message of what a JSON route got, in the encoding of protobuf, and collects every fault of it.
struct RequestJSON {
    /// The message, as far as it is made.
    private(set) var bytes: [UInt8] = []

    /// Adds the fields that a body has.
    mutating func add(_ fields: [FieldShape], of input: inout JSONInput) {
        for field in fields { add(field, of: &input) }
    }

    /// Adds a text, even an empty one.
    mutating func add(_ number: Int, _ text: String) { add(number, Array(text.utf8)) }

    /// Adds an integer, even zero.
    mutating func add(_ number: Int, _ integer: Int64) {
        addVarint(UInt64(number) << 3)
        addVarint(UInt64(bitPattern: integer))
    }

    private mutating func add(_ field: FieldShape, of input: inout JSONInput) {
        if field.isOptional, !input.contains(field.name) { return }
        if field.isRepeated { return addMessages(field, of: &input) }
        switch field.kind {
        case .text: addText(field, of: &input)
        case .truth:
            if let value = input.optionalBool(field.name) { add(field.number, value ? 1 : 0) }
        case .integer:
            let range = field.options.minimum...field.options.maximum
            if let value = input.optionalInteger(field.name, in: range) { add(field.number, value) }
        case .word(let words): addWord(field, words, of: &input)
        case .moment, .message: break  // no route takes one: see `FieldShape.isReadable`
        }
    }

    private mutating func addText(_ field: FieldShape, of input: inout JSONInput) {
        let isNull = input.isNull(field.name)
        if isNull, field.options.nullable {
            if field.hasPresence { add(field.number, "") }
            return
        }
        let mayBeEmpty = field.isOptional && field.options.minLength == 0
        guard mayBeEmpty, !isNull else { return add(field.number, input.string(field.name)) }
        if let text = input.optionalString(field.name) { add(field.number, text) }
    }

    private mutating func addWord(_ field: FieldShape, _ words: Words, of input: inout JSONInput) {
        let text = input.string(field.name)
        guard !text.isEmpty else { return }  // noted as a fault
        let accepted = field.accepted(words)
        guard accepted.contains(text), let value = words.words.first(where: { $0.word == text }) else {
            let list = accepted.dropLast().joined(separator: ", ") + " or " + (accepted.last ?? "")
            return input.addError(
                field.name,
                code: "\(field.name.uppercased())_INVALID",
                detail: "The \(field.name) must be \(list)."
            )
        }
        add(field.number, Int64(value.number))
    }

    private mutating func addMessages(_ field: FieldShape, of input: inout JSONInput) {
        guard case .message(let shape) = field.kind else { return }  // see `FieldShape.isReadable`
        for var element in input.objects(field.name) {
            var message = RequestJSON()
            message.add(shape.fields, of: &element)
            input.adopt(element)
            add(field.number, message.bytes)
        }
    }

    /// Adds a field with a length (wire type 2).
    private mutating func add(_ number: Int, _ content: [UInt8]) {
        addVarint(UInt64(number) << 3 | 2)
        addVarint(UInt64(content.count))
        bytes += content
    }

    /// Seven bits a byte, the lowest first (protobuf's encoding of integers).
    private mutating func addVarint(_ value: UInt64) {
        var rest = value
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

extension FieldShape {
    /// Whether a route can read the field from a query or a body. Proven when the route is made, so that no request meets a field of
    /// another kind.
    var isReadable: Bool {
        switch kind {
        case .text, .truth: !isRepeated
        case .integer:
            !isRepeated && options.hasMinimum && options.hasMaximum && options.minimum <= options.maximum
        case .word(let words): !isRepeated && Set(options.words).isSubset(of: words.words.map(\.word))
        case .message(let shape): isRepeated && shape.fields.allSatisfy(\.isReadable)
        case .moment: false
        }
    }

    /// The words of an enum that a request may have, or a response has.
    func accepted(_ words: Words) -> [String] { options.words.isEmpty ? words.words.map(\.word) : options.words }
}
