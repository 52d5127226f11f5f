import HTTPJSON
import HTTPTypes
import RPC

/// `GET /.well-known/jwks.json`: the public keys of our tokens (RFC 7517 section 5).
enum GetKeySet {
    static let operation = OpenAPI.Operation(
        .get,
        "/.well-known/jwks.json",
        id: "getKeySet",
        tag: .system,
        summary: "The public keys of our tokens (RFC 7517)",
        caller: .anyone,
        answers: [200: .init("The key set.", .keySet)]
    )

    /// How long identity may take; short, because a stale set is better than a late one.
    static let wait = Duration.seconds(2)

    /// - Parameter operation: another description, where a dialect has it at a path of its own.
    static func endpoint(_ cache: KeySetCache, _ operation: OpenAPI.Operation = operation) -> Endpoint {
        Endpoint(operation) { _, context in
            let answer = try await cache.answer(timeout: min(wait, context.deadline.remaining))
            return .json(
                bytes: answer.json.utf8,
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
