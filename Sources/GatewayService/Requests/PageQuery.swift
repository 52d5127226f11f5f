import HTTPJSON
import HTTPTypes

extension Request {
    /// `page_size` and `page_token` of the query.
    ///
    /// - Throws: 400 for a size that is no number from 1 to 100.
    func page() throws(Problem) -> (size: Int32, token: String) {
        let query = uri.queryParameters
        var size: Int32 = 0
        if let text = query["page_size"] {
            // Digits alone: Swift reads "+5" and "007" too.
            guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), text.utf8.first != 0x30, let number = Int32(text),
                1...100 ~= number
            else {
                throw Problem(
                    .badRequest,
                    code: "REQUEST_INVALID",
                    detail: "The request does not have the form that this path expects.",
                    fields: [
                        .init(
                            "page_size",
                            code: "PAGE_SIZE_INVALID",
                            detail: "This must be a whole number from 1 to 100."
                        )
                    ]
                )
            }
            size = number
        }
        return (size, query["page_token"] ?? "")
    }
}

extension OpenAPI.Parameter {
    /// `page_size`.
    static let pageSize = Self(
        component: "pageSize",
        name: "page_size",
        place: .query,
        schema: .integer(minimum: 1, maximum: 100, default: 50)
    )

    /// `page_token`.
    static let pageToken = Self(
        component: "pageToken",
        name: "page_token",
        place: .query,
        schema: .text(maxLength: 43, pattern: "^([A-Za-z0-9_-]{43})?$"),
        description: """
            next_page_token of the page before, of the same list and account; none or an empty one for the first. Any other is \
            refused with INVALID_CURSOR, and the app begins with the first page.
            """
    )
}

extension OpenAPI.Schema {
    /// `next_page_token` of an answer.
    static let nextPageToken = text("Null on the last page.", minLength: 43, maxLength: 43, orNull: true)
}
