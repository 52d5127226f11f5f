import HTTPJSON
import HTTPTypes
import JOSE

/// What Google says of itself (OpenID Connect Discovery 1.0): the issuer of its tokens, and the endpoints at the address by which the simulator
/// was called.
enum DiscoveryRoute {
    static let google = Route(.get, "/google/.well-known/openid-configuration") { request, _ in
        let base = "http://\(request.authority ?? "")/google"
        return .json([
            "issuer": .string(Provider.google.issuer),
            "authorization_endpoint": .string("\(base)/o/oauth2/v2/auth"),
            "token_endpoint": .string("\(base)/token"),
            "jwks_uri": .string("\(base)/oauth2/v3/certs"),
            "response_types_supported": ["code", "id_token", "code id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
            "code_challenge_methods_supported": ["plain", "S256"],
        ])
    }
}
