import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /.well-known/oauth-authorization-server`: what services that take our tokens need to know (RFC 8414).
///
/// We have no authorization endpoint and no token endpoint: apps sign in by `/auth/{provider}`. So
/// the lists of response types and grants are empty; left out, they would mean the authorization code grant. For the same reason
/// there is no `openid-configuration`: a client that goes by it begins at an authorization endpoint.
enum GetServerMetadataRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/.well-known/oauth-authorization-server",
        id: "getServerMetadata",
        tag: .system,
        summary: "What services that take our tokens need to know (RFC 8414)",
        caller: .anyone,
        answers: [200: .init("The metadata.", .serverMetadata)]
    )

    /// - Parameter hasIntrospection: whether there is a route for it.
    static func endpoint(_ methods: AppMethods, hasIntrospection: Bool) -> Endpoint {
        Endpoint(operation) { request, context in
            let answer = try await methods.keySetAnswer(.route(request, context))
            return .json(
                bytes: metadata(answer.issuer, hasIntrospection: hasIntrospection).serialized(),
                headers: [.cacheControl: "public, max-age=\(answer.maxAgeSeconds)"]
            )
        }
    }

    static func metadata(_ issuer: String, hasIntrospection: Bool) -> JSONObject {
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        var metadata: JSONObject = [
            "issuer": .string(issuer),
            "jwks_uri": .string(base + GetKeySetRoute.operation.path),
            "response_types_supported": [],
            "grant_types_supported": [],
        ]
        if hasIntrospection {
            metadata["introspection_endpoint"] = .string(base + IntrospectTokenRoute.path)
            metadata["introspection_endpoint_auth_methods_supported"] = ["client_secret_basic"]
        }
        return metadata
    }
}

extension OpenAPI.Schema {
    fileprivate static let serverMetadata = object([
        .required("issuer", .text("What our tokens name as their issuer.", minLength: 1)),
        .required("jwks_uri", .text("Where the key set is.", minLength: 1)),
        .required("response_types_supported", .list(of: .text(), maxItems: 0)),
        .required("grant_types_supported", .list(of: .text(), maxItems: 0)),
        .optional("introspection_endpoint", .text(minLength: 1)),
        .optional("introspection_endpoint_auth_methods_supported", .list(of: .constant("client_secret_basic"))),
    ]).named("ServerMetadata")
}
