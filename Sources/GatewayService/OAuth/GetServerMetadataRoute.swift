import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /.well-known/oauth-authorization-server`: what services that take our tokens need to know (RFC 8414).
///
/// Without pages that sign in there is no authorization endpoint and no token endpoint: apps sign in by `/auth/{provider}`. Then the
/// lists of response types and grants are empty, and there is no `openid-configuration`: a client that goes by it begins at an
/// authorization endpoint.
enum GetServerMetadataRoute {
    private static let path = "/.well-known/oauth-authorization-server"

    static let operation = operation(.serverMetadata)
    private static let operationWithPages = operation(.serverMetadata)

    private static func operation(_ schema: OpenAPI.Schema) -> OpenAPI.Operation {
        OpenAPI.Operation(
            .get,
            path,
            id: "getServerMetadata",
            tag: .system,
            summary: "What services that take our tokens need to know (RFC 8414)",
            caller: .anyone,
            answers: [200: .init("The metadata.", schema)]
        )
    }

    static func endpoint(_ methods: AppMethods, _ metadata: ServerMetadata) -> Endpoint {
        metadata.endpoint(metadata.pages == nil ? operation : operationWithPages, methods)
    }
}

/// `GET /.well-known/openid-configuration`: the same for OpenID clients (OpenID Connect Discovery 1.0 section 4).
enum GetOpenIDConfigurationRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/.well-known/openid-configuration",
        id: "getOpenIDConfiguration",
        tag: .system,
        summary: "What OpenID clients need to know",
        caller: .anyone,
        answers: [200: .init("The metadata.", .serverMetadata)]
    )

    static func endpoint(_ methods: AppMethods, _ metadata: ServerMetadata) -> Endpoint {
        metadata.endpoint(operation, methods)
    }
}

extension ServerMetadata {
    /// An operation that answers the document, which clients may keep as long as the key set.
    fileprivate func endpoint(_ operation: OpenAPI.Operation, _ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let answer = try await methods.keySetAnswer(.route(request, context))
            return .json(
                bytes: json(issuer: answer.issuer, keySet: answer.json).serialized(),
                headers: [.cacheControl: "public, max-age=\(answer.maxAgeSeconds)"]
            )
        }
    }
}
