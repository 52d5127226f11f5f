import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `POST /api/auth/apple` and `POST /api/auth/google`: open a session with a single token.
///
/// The same identity token again within a minute answers the same session, so that an app may try three times.
enum SingleTokenSignIn {
    /// Whose tokens a path takes.
    enum Provider: String {
        case apple
        case google
    }

    static func operation(_ provider: Provider) -> OpenAPI.Operation {
        OpenAPI.Operation(
            .post,
            "/api/auth/\(provider)",
            id: provider == .apple ? "singleTokenSignInWithApple" : "singleTokenSignInWithGoogle",
            tag: .auth,
            summary: "Opens a session with a single token",
            caller: .anyone,
            body: .required(provider == .apple ? .appleSingleTokenSignIn : .googleSingleTokenSignIn),
            answers: [200: .init("The token, and whose it is.", .singleTokenSession)],
            problems: [.refused, .forbidden, .fieldsAtFault],
            errors: .singleToken
        )
    }

    static func endpoint(_ provider: Provider, _ parts: DialectParts) -> Endpoint {
        Endpoint(operation(provider)) { request, context in
            var input = try await context.json(request)
            let call = Self.call(provider, &input)
            try input.finish()
            let options = parts.authentication.callOptionsWithAddress(.route(request, context))
            let signIn = try await parts.backends.identity.signIn(call, options: options)
            return .json([
                "success": true, "token": .string(signIn.tokens.singleToken),
                "user": .object(await user(signIn, parts.people, context)),
            ])
        }
    }

    private static func call(_ provider: Provider, _ input: inout JSONInput) -> IdentityV1.SignInRequest {
        var call = IdentityV1.SignInRequest()
        call.provider = provider.rawValue
        let named = input.optionalString("identity_token") ?? ""
        call.idToken = named.isEmpty ? input.optionalString("id_token") ?? "" : named
        if call.idToken.isEmpty { _ = input.string("identity_token") }
        call.nonce = input.optionalString("nonce") ?? ""
        call.authorizationCode = input.optionalString("authorization_code") ?? ""
        call.expectedSubject = input.optionalString("userIdentifier") ?? ""
        call.fullName = input.optionalString("name") ?? ""
        call.email = input.optionalString("email") ?? ""
        call.deviceName = input.optionalString("device_name") ?? ""
        call.tokenStyle = .single
        return call
    }

    /// Whose token it is. The session exists by now, so a lookup that fails must not lose the token: what is unknown then is
    /// an empty text, and `missing_fields` null. Texts are never null, as an app's decoder may insist on them.
    private static func user(
        _ signIn: IdentityV1.SignInResponse,
        _ people: People,
        _ context: RouteContext
    ) async -> JSONObject {
        async let knownAccount = people.accountIfKnown(signIn.callerProofs, context)
        async let knownProfile = people.profileIfKnown(signIn.callerProofs, context)
        let (account, profile) = await (knownAccount, knownProfile)
        let name = profile?.displayName ?? ""
        return [
            "id": .string(signIn.tokens.userID),
            "number": .integer(signIn.tokens.accountNumber),
            "email": .string(account?.email ?? ""),
            "name": .string(name.isEmpty ? signIn.suggestedDisplayName : name),
            "phone": .string(profile?.phoneNumber ?? ""),
            "is_new_user": .bool(signIn.isNewUser),
            "missing_fields": profile.map { .array($0.missingFields.map { .string($0) }) } ?? .null,
        ]
    }
}

extension OpenAPI.Schema {
    fileprivate static let appleSingleTokenSignIn = object(
        [.required("identity_token", .text("Apple's ID token; `id_token` is read too.", minLength: 1))] + told
    ).named("AppleSingleTokenSignIn")

    fileprivate static let googleSingleTokenSignIn = object(
        [.required("id_token", .text("Google's ID token; `identity_token` is read too.", minLength: 1))] + told
    ).named("GoogleSingleTokenSignIn")

    private static let told: [Member] = [
        .optional("nonce", .text("The raw nonce.", orNull: true)),
        .optional("authorization_code", .text(orNull: true)),
        .optional("userIdentifier", .text("The provider's subject, which the token must name.", orNull: true)),
        .optional("email", .text(orNull: true)),
        .optional("name", .text("The provider sends it the first time only.", orNull: true)),
        .optional("device_name", .text(orNull: true)),
    ]

    fileprivate static let singleTokenSession = object([
        .required("success", .constant(true)),
        .required("token", .singleToken),
        .required(
            "user",
            .object([
                .required("id", .uuid),
                .required("number", .integer("The account's number.", minimum: 1)),
                .required("email", .text("Empty if none is known.")),
                .required("name", .text("The display name, or the provider's; empty if none is known.")),
                .required("phone", .text("E.164, or empty.")),
                .required("is_new_user", .bool),
                .required("missing_fields", .list(of: .missingField, "Null if not known now.", orNull: true)),
            ])
        ),
    ]).named("SingleTokenSession")

    static let singleToken = text("A JWT whose exp the app may read.", minLength: 1)
}
