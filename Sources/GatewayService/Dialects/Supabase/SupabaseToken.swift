import API
import HTTPJSON
import HTTPTypes
import JOSE
import RPC

/// `POST /auth/v1/token`: opens a session for a provider's ID token (`grant_type=id_token`) or continues one
/// (`grant_type=refresh_token`); or links an identity by the code of a provider's page (`grant_type=pkce`). With `link_identity` the ID token is linked to the bearer token's account (``SupabaseLinkIdentity``).
///
/// The answer tells the whole account. One that can't be had fails the request, which loses nothing: the same ID token again
/// within a minute, or the same refresh token again, answers the same. A profile that can't be had leaves `phone` empty, so
/// that people are let in while the service profile is down.
enum SupabaseToken {
    /// What a request shows.
    enum Grant: String, CaseIterable {
        case idToken = "id_token"
        case refreshToken = "refresh_token"
        case pkce = "pkce"
    }

    static let path = "/auth/v1/token"

    static let operation = OpenAPI.Operation(
        .post,
        path,
        id: "supabaseToken",
        tag: .auth,
        summary: "Opens a session for an ID token, or continues one for a refresh token",
        caller: .anyone,
        parameters: [.supabaseGrant],
        body: .required(.supabaseGrantBody),
        answers: [200: .init("The session, and whose it is.", .supabaseSession)],
        problems: [.refused, .forbidden, .notFound, .fieldsAtFault],
        errors: .supabase
    )

    static func endpoint(_ parts: DialectParts) -> Endpoint {
        Endpoint(operation) { request, context in
            guard let grant = grant(request) else { throw unsupportedGrant }
            var input = try await context.json(request)
            let (tokens, proofs) =
                switch grant {
                case .idToken: try await signIn(&input, request, context, parts)
                case .refreshToken: try await refresh(&input, context, parts)
                case .pkce: try await SupabaseLinkIdentity.redeem(&input, request, context, parts)
                }
            return try await answer(tokens, proofs, context, parts)
        }
    }

    /// The answer that opens or continues a session.
    static func answer(
        _ tokens: IdentityV1.SessionTokens,
        _ proofs: IdentityV1.CallerProofs,
        _ context: RouteContext,
        _ parts: DialectParts
    ) async throws -> Response {
        async let foundAccount = parts.people.account(proofs, context.callOptions())
        async let knownProfile = parts.people.profileIfKnown(proofs, context)
        let user = SupabaseUser(account: try await foundAccount, profile: await knownProfile)
        return .json([
            "access_token": .string(tokens.accessToken),
            "token_type": "bearer",
            "expires_in": .integer(tokens.expiresInSeconds),
            "expires_at": .integer(UnixTime.nowSeconds() + tokens.expiresInSeconds),
            "refresh_token": .string(tokens.refreshToken),
            "user": .object(user.json),
        ])
    }

    /// The member of a body that asks to link what else would sign in.
    private static let linkMember = "link_identity"

    /// The grant that a request's query names; nil for none or another.
    static func grant(_ request: Request) -> Grant? {
        request.uri.queryParameters.get("grant_type").flatMap { Grant(rawValue: $0) }
    }

    private static func signIn(
        _ input: inout JSONInput,
        _ request: Request,
        _ context: RouteContext,
        _ parts: DialectParts
    ) async throws -> (IdentityV1.SessionTokens, IdentityV1.CallerProofs) {
        var call = IdentityV1.SignInRequest()
        call.provider = input.string("provider")
        call.idToken = input.string("id_token")
        call.nonce = input.optionalString("nonce") ?? ""
        // Apple's, with which its token for the account is had, that is revoked when the account is deleted.
        call.authorizationCode = input.optionalString("authorization_code") ?? ""
        let links = input.optionalBool(linkMember) ?? false
        try input.finish()
        if links { return try await SupabaseLinkIdentity.link(call, request, context, parts) }
        let options = parts.authentication.callOptionsWithAddress(.route(request, context))
        let signIn = try await parts.backends.identity.signIn(call, options: options)
        return (signIn.tokens, signIn.callerProofs)
    }

    private static func refresh(
        _ input: inout JSONInput,
        _ context: RouteContext,
        _ parts: DialectParts
    ) async throws -> (IdentityV1.SessionTokens, IdentityV1.CallerProofs) {
        let call = IdentityV1.RefreshRequest(presentedNow: input.string("refresh_token"))
        try input.finish()
        let refresh = try await parts.backends.identity.refresh(call, options: context.callOptions())
        return (refresh.tokens, refresh.callerProofs)
    }

    private static let unsupportedGrant = Problem(
        .badRequest,
        code: "UNSUPPORTED_GRANT_TYPE",
        detail: "Only the grant types id_token, refresh_token and pkce are answered here."
    )
}

extension OpenAPI.Parameter {
    fileprivate static let supabaseGrant = Self(
        component: "grantType",
        name: "grant_type",
        place: .query,
        schema: .oneOf(SupabaseToken.Grant.allCases.map(\.rawValue)),
        description: "What the body shows."
    )
}

extension OpenAPI.Schema {
    fileprivate static let supabaseGrantBody = object(
        [
            .optional("provider", .text("apple, google, …", orNull: true)),
            .optional("id_token", .text("The provider's ID token.", orNull: true)),
            .optional("nonce", .text("The raw nonce.", orNull: true)),
            .optional("authorization_code", .text("The code that came with the ID token.", orNull: true)),
            .optional(
                "link_identity",
                .boolean("True links the identity to the account of the bearer token.", orNull: true)
            ),
            .optional("refresh_token", .text(orNull: true)),
            .optional("auth_code", .text("The code of the page that links an identity.", orNull: true)),
            .optional("code_verifier", .text("PKCE (RFC 7636).", maxLength: 128, orNull: true)),
        ],
        description:
            "With grant_type=id_token provider and id_token are needed, with refresh_token that one, with pkce the last two."
    ).named("SupabaseGrant")

    static let supabaseSession = object([
        .required("access_token", .text(minLength: 1)),
        .required("token_type", .constant("bearer")),
        .required("expires_in", .integer(minimum: 1)),
        .required("expires_at", .integer("Unix seconds.", minimum: 1)),
        .required("refresh_token", .text(minLength: 1)),
        .required("user", .supabaseUser),
    ]).named("SupabaseSession")
}
