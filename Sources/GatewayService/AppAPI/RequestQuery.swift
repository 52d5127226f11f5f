import API
import HTTPJSON
import HTTPTypes

extension RequestJSON {
    /// Adds the fields that a query has: texts, and integers within their bounds. Other parameters are ignored.
    ///
    /// - Throws: 400 for an integer that is none, or out of its bounds.
    mutating func add(_ fields: [FieldShape], of query: QueryParameters) throws(Problem) {
        for field in fields {
            guard let text = query[field.name] else { continue }
            guard case .integer = field.kind else {
                add(field.number, text)
                continue
            }
            // Digits alone: Swift reads "+5" and "007" too.
            guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), text.utf8.first != 0x30, let number = Int64(text),
                field.options.minimum...field.options.maximum ~= number
            else {
                throw Problem(
                    .badRequest,
                    code: "REQUEST_INVALID",
                    detail: "The request does not have the form that this path expects.",
                    fields: [
                        .init(field.name, code: "\(field.name.uppercased())_INVALID", detail: Self.detail(of: field))
                    ]
                )
            }
            add(field.number, number)
        }
    }

    private static func detail(of field: FieldShape) -> String {
        "This must be a whole number from \(field.options.minimum) to \(field.options.maximum)."
    }
}
