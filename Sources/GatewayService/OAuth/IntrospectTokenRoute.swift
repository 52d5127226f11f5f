import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `POST /auth/introspect`: describes a token to clients that are configured for it (RFC 7662).
///
/// It counts as the other paths below `/auth/` do, by address, before a secret is read: a client that asks more calls identity's
/// IntrospectToken with a certificate, or verifies tokens by the key set.
enum IntrospectTokenRoute {
    static let path = "/auth/introspect"

    static let operation = OpenAPI.Operation(
        .post,
        path,
        id: "introspectToken",
        tag: .auth,
        summary: "Describes a token (RFC 7662)",
        description: """
            For clients that are configured for it, with their id and secret by HTTP Basic. For an inactive token the response says \
            nothing else. token_use says what an active one is good for: a refresh_token authorizes no call. Where no client \
            is configured, every request is 404 with the code INTROSPECTION_NOT_CONFIGURED.
            """,
        caller: .client,
        body: .form(.introspection),
        answers: [200: .init("What is known of the token.", .introspected)],
        problems: [.notFound],
        errors: .oauth
    )

    /// - Parameter clients: nil where none is configured: the path must not fall to a provider's sign-in.
    static func endpoint(_ methods: AppMethods, _ clients: IntrospectionClients?) -> Endpoint {
        Endpoint(operation, isForOtherOrigins: false) { request, context in
            guard let clients else { throw notConfigured }
            try clients.check(request.headers)
            let form = try await context.form(request)
            guard let token = form["token"], !token.isEmpty, form.repeatedName == nil else {
                throw Problem(.badRequest, code: "TOKEN_MISSING", detail: "The form must have one field token.")
            }
            var call = IdentityV1.IntrospectTokenRequest()
            call.token = token
            let options = Caller.route(request, context).callOptions()
            return .json(try await methods.identity.introspectToken(call, options: options).json)
        }
    }
}

extension IntrospectTokenRoute {
    private static let notConfigured = Problem(
        .notFound,
        code: "INTROSPECTION_NOT_CONFIGURED",
        detail: "No client is configured to ask about tokens here."
    )
}

extension IdentityV1.IntrospectTokenResponse {
    /// As RFC 7662 section 2.2 has it.
    fileprivate var json: JSONObject {
        guard active else { return ["active": false] }
        var json: JSONObject = [
            "active": true, "token_use": use == .refresh ? "refresh_token" : "access_token", "sub": .string(userID),
            "sid": .string(sessionID), "client_id": .string(clientID), "iss": .string(issuer),
            "exp": .integer(expiresAtSeconds),
        ]
        // Only what RFC 6749 section 7.1 calls a token type: a refresh token is presented to nobody but us.
        if use == .access { json["token_type"] = .string(TokenType.name(isBound: !keyThumbprint.isEmpty)) }
        if let key = JWKThumbprint(bytes: Array(keyThumbprint)) { json["cnf"] = .object(["jkt": .string(key.text)]) }
        if !scope.isEmpty { json["scope"] = .string(scope) }
        if !audience.isEmpty { json["aud"] = .string(audience) }
        // As the token's own claims (RFC 9470 section 6.2). An identity of a release before says neither, but which user is a guest.
        if !acr.isEmpty {
            json["acr"] = .string(acr)
            json["auth_time"] = .integer(signedInAtSeconds)
        } else if isGuest {
            json["acr"] = "urn:vestibule:acr:guest"
        }
        return json
    }
}

extension OpenAPI.Schema {
    fileprivate static let introspection = object([
        .required("token", .text("An access, single or refresh token, or any other text.", minLength: 1)),
        .optional("token_type_hint", .text("Is not looked at: the token itself says what it is.")),
    ]).named("Introspection")

    fileprivate static let introspected = object([
        .required("active", .bool),
        .optional("token_use", .oneOf(["access_token", "refresh_token"])),
        .optional("token_type", .oneOf(TokenType.names)),
        .optional(
            "cnf",
            .object([
                .required(
                    "jkt",
                    .text(
                        "The thumbprint of the key that the token is bound to (RFC 9449 section 6.2).",
                        minLength: 43,
                        maxLength: 43
                    )
                )
            ])
        ),
        .optional("sub", .uuid),
        .optional("sid", .uuid),
        .optional("client_id", .text("The app that the session was opened by, as the provider knows it.")),
        .optional("iss", .text(minLength: 1)),
        .optional("aud", .text(minLength: 1)),
        .optional("exp", .integer("Unix seconds.", minimum: 0)),
        .optional("scope", .text("What an OAuth client was granted.", minLength: 1)),
        .optional("acr", .text("How the sign-in was proven, as the token's own claim says it.", minLength: 1)),
        .optional("auth_time", .integer("When the user signed in, in Unix seconds.", minimum: 0)),
    ]).named("IntrospectedToken")
}
