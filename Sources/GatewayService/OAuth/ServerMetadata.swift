import DPoP
import HTTPJSON
import JOSE

/// What services that take our tokens, and OpenID clients, need to know: one document at two paths (RFC 8414, OpenID Connect
/// Discovery 1.0).
struct ServerMetadata: Sendable {
    /// Whether there is a route that describes tokens.
    let hasIntrospection: Bool
    /// The pages that sign in; nil without, and then there is no endpoint to sign in by.
    let pages: SignInPages?
    /// The languages of the pages (BCP 47).
    var languages: [String] = []
    /// Whether tokens may be bound to a key (RFC 9449).
    var hasKeyProofs = false
    /// The largest key set that is read, in bytes.
    private static let keySetBytesMax = 65_536

    /// The document.
    ///
    /// - Parameter keySet: the key set as identity publishes it, in JSON.
    func json(issuer: String, keySet: String) -> JSONObject {
        // Browsers must come by the origin that the cookies are for.
        let base = pages?.origin ?? (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer)
        var metadata: JSONObject = [
            "issuer": .string(issuer), "jwks_uri": .string(base + GetKeySetRoute.operation.path),
        ]
        if pages != nil {
            metadata.add(Self.endpoints(base))
            metadata["id_token_signing_alg_values_supported"] = .array(Self.algorithms(keySet).map { .string($0) })
            metadata["ui_locales_supported"] = .array(languages.map { .string($0) })
            metadata.add(Self.capabilities)
            if hasKeyProofs {
                metadata["dpop_signing_alg_values_supported"] = .array(DPoPAlgorithm.allNames.map { .string($0) })
            }
        } else {
            // Left out, they would mean the authorization code grant.
            metadata["response_types_supported"] = []
            metadata["grant_types_supported"] = []
        }
        if hasIntrospection {
            metadata["introspection_endpoint"] = .string(base + IntrospectTokenRoute.path)
            metadata["introspection_endpoint_auth_methods_supported"] = ["client_secret_basic"]
        }
        return metadata
    }

    private static func endpoints(_ base: String) -> JSONObject {
        [
            "authorization_endpoint": .string(base + AuthorizeRoute.path),
            "token_endpoint": .string(base + IssueTokensRoute.path),
            "userinfo_endpoint": .string(base + UserInfoRoute.path),
            "revocation_endpoint": .string(base + RevokeTokenRoute.path),
            "end_session_endpoint": .string(base + EndBrowserSessionRoute.path),
            "pushed_authorization_request_endpoint": .string(base + PushAuthorizationRoute.path),
        ]
    }

    /// Also what would be so without saying it: clients differ in the defaults that they know.
    private static let capabilities: JSONObject = [
        "response_types_supported": ["code"],
        "response_modes_supported": ["query", "form_post"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "subject_types_supported": ["public"],
        "token_endpoint_auth_methods_supported": clientMethods,
        "token_endpoint_auth_signing_alg_values_supported": clientAlgorithms,
        "revocation_endpoint_auth_methods_supported": clientMethods,
        "revocation_endpoint_auth_signing_alg_values_supported": clientAlgorithms,
        "code_challenge_methods_supported": ["S256"],
        "scopes_supported": ["openid", "profile", "email", "phone", "offline_access"],
        "claims_supported": [
            "sub", "iss", "aud", "exp", "iat", "auth_time", "acr", "nonce", "sid", "name", "preferred_username",
            "picture",
            "email", "email_verified", "phone_number", "phone_number_verified",
        ],
        "authorization_response_iss_parameter_supported": true,
        "request_parameter_supported": false,
        "request_uri_parameter_supported": false,
        "require_request_uri_registration": false,
        "claims_parameter_supported": false,
        "prompt_values_supported": ["none", "login", "select_account"],
        "display_values_supported": ["page", "popup", "touch"],
        "acr_values_supported": .array(contexts.map { .string($0) }),
        "claim_types_supported": ["normal"],
        "backchannel_logout_supported": true,
        "backchannel_logout_session_supported": true,
        "frontchannel_logout_supported": false,
    ]

    /// The values of `acr` that a client may ask for.
    static let contexts = ["urn:vestibule:acr:provider", "urn:vestibule:acr:passkey"]
    private static let clientMethods: JSONValue = [
        "client_secret_basic", "client_secret_post", "private_key_jwt", "none",
    ]
    private static let clientAlgorithms = JSONValue.array(
        SignatureAlgorithm.allCases.map { .string($0.rawValue) }
    )

    /// The algorithms of a key set's keys, each once.
    private static func algorithms(_ keySet: String) -> [String] {
        let limits = JSONLimits(bytesMax: keySetBytesMax)
        let keys = (try? JSONObject(parsing: Array(keySet.utf8), limits: limits))?["keys"]?.array ?? []
        var algorithms: [String] = []
        for case let algorithm? in keys.map({ $0.object?["alg"]?.string }) where !algorithms.contains(algorithm) {
            algorithms.append(algorithm)
        }
        return algorithms
    }
}

extension JSONObject {
    fileprivate mutating func add(_ other: JSONObject) {
        for member in other.members { self[member.name] = member.value }
    }
}

extension OpenAPI.Schema {
    /// Both documents. With pages that sign in they have every member but those of introspection.
    static let serverMetadata = object(
        [
            .required("issuer", .text("What our tokens name as their issuer.", minLength: 1)),
            .required("jwks_uri", .text("Where the key set is.", minLength: 1)),
            .required("response_types_supported", names), .required("grant_types_supported", names),
        ]
            + [
                "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "revocation_endpoint",
                "end_session_endpoint",
                "pushed_authorization_request_endpoint", "introspection_endpoint",
            ].map { .optional($0, .text(minLength: 1)) }
            + [
                "introspection_endpoint_auth_methods_supported", "token_endpoint_auth_methods_supported",
                "revocation_endpoint_auth_methods_supported", "id_token_signing_alg_values_supported",
                "response_modes_supported",
                "subject_types_supported", "code_challenge_methods_supported", "scopes_supported", "claims_supported",
                "prompt_values_supported", "display_values_supported", "ui_locales_supported", "acr_values_supported",
                "claim_types_supported", "dpop_signing_alg_values_supported",
                "token_endpoint_auth_signing_alg_values_supported",
                "revocation_endpoint_auth_signing_alg_values_supported",
            ].map { .optional($0, names) }
            + [
                "authorization_response_iss_parameter_supported", "request_parameter_supported",
                "request_uri_parameter_supported",
                "require_request_uri_registration", "claims_parameter_supported", "backchannel_logout_supported",
                "backchannel_logout_session_supported", "frontchannel_logout_supported",
            ].map { .optional($0, .bool) }
    ).named("ServerMetadata")

    private static let names = list(of: .text(minLength: 1))
}
