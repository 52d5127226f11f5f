import API
import HTTPJSON
import HTTPTypes

/// `GET /.well-known/jwks.json`: the public keys of our tokens (RFC 7517 section 5).
enum GetKeySetRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/.well-known/jwks.json",
        id: "getKeySet",
        tag: .system,
        summary: "The public keys of our tokens (RFC 7517)",
        caller: .anyone,
        answers: [200: .init("The key set.", .keySet)]
    )

    /// - Parameter operation: another description, where a dialect has it at a path of its own.
    static func endpoint(_ methods: AppMethods, _ operation: OpenAPI.Operation = operation) -> Endpoint {
        Endpoint(operation) { request, context in
            let answer = try await methods.getKeySet(.init(), .route(request, context))
            return .json(
                bytes: answer.jwksJson.utf8,
                headers: [.cacheControl: "public, max-age=\(answer.maxAgeSeconds)"]
            )
        }
    }
}

extension OpenAPI.Schema {
    static let keySet = object([
        .required(
            "keys",
            .list(of: .object([.required("kty"), .required("kid")], description: "RFC 7517."), minItems: 1)
        )
    ]).named("KeySet")
}
