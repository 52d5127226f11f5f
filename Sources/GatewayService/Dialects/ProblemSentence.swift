import HTTPJSON

extension Problem {
    /// What is wrong in one line, for shapes that have no place for fields of their own.
    var sentence: String {
        guard !fields.isEmpty else { return detail }
        return fields.map { "\($0.name): \($0.detail)" }.joined(separator: " ")
    }
}
