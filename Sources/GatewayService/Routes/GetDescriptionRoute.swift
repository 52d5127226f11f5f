import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /openapi.json`: the description of all routes.
enum GetDescriptionRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/openapi.json",
        id: "getDescription",
        tag: .system,
        summary: "This description",
        caller: .anyone,
        callsServices: false,
        answers: [200: .init("OpenAPI 3.1", .description)]
    )

    /// How long the description may be cached, in seconds.
    static let maxAgeSeconds = 300

    /// - Parameter others: the operations of every other route.
    static func endpoint(describing others: [OpenAPI.Operation]) -> Endpoint {
        let document = OpenAPI.document(of: others + [operation]).serialized()
        let answer = Response.json(bytes: document, headers: [.cacheControl: "public, max-age=\(maxAgeSeconds)"])
        return Endpoint(operation, atOnce: { _, _ in answer })
    }
}

extension OpenAPI.Schema {
    fileprivate static let description = object([
        .required("openapi", .text(pattern: "^3[.]1[.]")), .required("info"), .required("paths"),
    ]).named("Description")
}
