import HTTPJSON
import HTTPTypes
import JOSE

/// The `Idempotency-Key` that a client chose for a request (draft-ietf-httpapi-idempotency-key-header), so that asking
/// again does nothing twice.
enum IdempotencyKey {
    /// The header's name.
    static let header = "Idempotency-Key"
    /// A UUID in quotes; what is longer is none, and isn't handed on.
    private static let bytesMax = 38

    /// The key of a request, without the quotes of a structured string (RFC 8941 section 3.3.3); nil if it has none.
    /// Whether it is a UUID is the service's to say. Many clients leave the quotes out, which nothing speaks against.
    ///
    /// - Throws: 400 for more than one key, or what can be none.
    static func of(_ request: Request) throws(Problem) -> String? {
        let values = request.headers[values: .idempotencyKey]
        guard let value = values.first else { return nil }
        guard values.count == 1, value.utf8.count <= bytesMax else { throw invalid }
        let isQuoted = value.utf8.count >= 2 && value.first == "\"" && value.last == "\""
        let key = isQuoted ? String(value.dropFirst().dropLast()) : value
        guard !key.isEmpty else { throw invalid }
        return key
    }

    private static let invalid = Problem(
        .badRequest,
        code: "IDEMPOTENCY_KEY_INVALID",
        detail: "The idempotency key must be a UUID."
    )
}

extension OpenAPI.Parameter {
    /// `Idempotency-Key`. With a pattern instead of the format and the example, tools make keys up that no UUID has.
    static let idempotencyKey = Self(
        component: "idempotencyKey",
        name: IdempotencyKey.header,
        place: .header,
        schema: .uuid,
        description: "A UUID that the client chose for what it wants done once; remembered for a day.",
        example: "8e03978e-40d5-43dd-bc93-6894a57f9324"
    )
}
