import API
import HTTPJSON
import HTTPTypes
import RPC

/// What a provider gave an app, as the routes that sign in take it, and the session that it opens.
///
/// All of these routes take the same members, each absent, null or a text: which of them prove anything is identity's to
/// decide.
struct ProviderCredentials: Sendable {
    let methods: AppMethods

    /// Opens the session and answers it.
    ///
    /// - Parameters:
    ///   - provider: the provider's name as the path says it; identity knows whether there is one.
    ///   - tokenField: the ID token's name at this path: the other one counts where this one is missing.
    func signIn(
        by provider: String,
        tokenField: String = "id_token",
        _ request: Request,
        _ context: RouteContext
    ) async throws -> Response {
        var input = try await context.json(request)
        let call = Self.request(provider, tokenField: tokenField, &input)
        try input.finish()
        let session = try await methods.signInWithProvider(call, .route(request, context))
        return .json(addMembers: session.write(to:))
    }

    /// The members of a request's body.
    ///
    /// - Parameter isRequired: whether a token or a code must be there.
    static func request(
        _ provider: String,
        tokenField: String = "id_token",
        isRequired: Bool = true,
        _ input: inout JSONInput
    ) -> AppV1.SignInWithProviderRequest {
        var call = AppV1.SignInWithProviderRequest()
        call.provider = provider
        let token = input.optionalString(tokenField) ?? ""
        let otherName = tokenField == "id_token" ? "identity_token" : "id_token"
        let tokenByOtherName = input.optionalString(otherName) ?? ""
        call.idToken = token.isEmpty ? tokenByOtherName : token
        call.nonce = input.optionalString("nonce") ?? ""
        call.authorizationCode = input.optionalString("authorization_code") ?? ""
        call.accessToken = input.optionalString("access_token") ?? ""
        call.clientID = input.optionalString("client_id") ?? ""
        call.redirectUri = input.optionalString("redirect_uri") ?? ""
        call.codeVerifier = input.optionalString("code_verifier") ?? ""
        call.fullName = input.optionalString("full_name") ?? ""
        call.email = input.optionalString("email") ?? ""
        call.deviceName = input.optionalString("device_name") ?? ""
        if let create = input.optionalBool("create") { call.create = create }
        let isThere = !call.idToken.isEmpty || !call.authorizationCode.isEmpty || !call.accessToken.isEmpty
        if isRequired, !isThere, !input.hasFaults {
            input.addError(
                tokenField,
                code: "REQUIRED",
                detail: "This field, authorization_code or access_token is required."
            )
        }
        return call
    }
}

extension OpenAPI.Schema {
    /// What every route that signs in takes besides the ID token. A member that is null counts as absent.
    static func credentials(_ name: String, idToken: [Member], nonce: String = "") -> Self {
        object(
            credentialMembers(idToken: idToken, nonce: nonce),
            description: "An ID token, an authorization code or an access token is needed."
        ).requiringText(inOneOf: idToken.map(\.name) + ["authorization_code", "access_token"]).named(name)
    }

    /// The members of credentials, the ID token's first.
    static func credentialMembers(idToken: [Member], nonce: String = "") -> [Member] {
        idToken + [
            .optional(
                "nonce",
                .text(
                    "The raw nonce, where the app made one or asked for one.\(nonce)",
                    maxLength: 2048,
                    orNull: true
                )
            ),
            .optional(
                "authorization_code",
                .text("Beside the ID token, or alone together with client_id.", maxLength: 2048, orNull: true)
            ),
            .optional("access_token", .text("The provider's, alone together with client_id.", orNull: true)),
            .optional(
                "client_id",
                .text("The audience that a code or an access token without ID token is for.", orNull: true)
            ),
            .optional("redirect_uri", .text("The one that the code was issued to, if any.", orNull: true)),
            .optional(
                "code_verifier",
                .text("PKCE (RFC 7636), of the code or of the tickets.", maxLength: 128, orNull: true)
            ),
            .optional("full_name", .text("Apple sends it the first time only.", orNull: true)),
            .optional("email", .text("Kept only if the token has none.", orNull: true)),
            .optional("device_name", .text("Shown in the list of sessions.", orNull: true)),
            .optional("create", .boolean("Whether somebody new gets an account; true if absent.", orNull: true)),
        ]
    }
}
