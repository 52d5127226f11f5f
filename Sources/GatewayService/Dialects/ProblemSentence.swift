import HTTPJSON

extension Problem {
    /// What is wrong in one line, for shapes that have no place for fields of their own. Members of the body are named; what
    /// a service says of a field is a sentence that names it.
    var sentence: String {
        guard !fields.isEmpty else { return detail }
        let isOfBody = code == "REQUEST_INVALID"
        return fields.map { isOfBody ? "\($0.name): \($0.detail)" : $0.detail }.joined(separator: " ")
    }
}
