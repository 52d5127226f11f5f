import API
import HTTPJSON
import HTTPTypes

/// `POST /auth/apple`: opens a session for what Sign in with Apple gave the app.
enum SignInWithApple {
    static let operation = OpenAPI.Operation(
        .post,
        "/auth/apple",
        id: "signInWithApple",
        tag: .auth,
        summary: "Opens a session for what Sign in with Apple gave the app",
        caller: .anyone,
        body: .required(.appleSignIn),
        answers: [200: .session],
        problems: [.refused, .fieldsAtFault]
    )

    static func endpoint(_ identity: IdentityServiceClient, _ answer: SessionAnswer) -> Endpoint {
        Endpoint(operation) { request, context in
            var input = try await context.json(request)
            var call = IdentityV1.SignInRequest()
            call.provider = "apple"
            call.idToken = input.string("identity_token")
            call.nonce = input.string("nonce")
            call.authorizationCode = input.optionalString("authorization_code") ?? ""
            call.fullName = input.optionalString("full_name") ?? ""
            call.email = input.optionalString("email") ?? ""
            try input.finish()
            let signIn = try await identity.signIn(call, options: context.callOptions())
            return await answer.response(
                signIn.tokens,
                isNewUser: signIn.isNewUser,
                suggestedDisplayName: signIn.suggestedDisplayName,
                context: context
            )
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let appleSignIn = object([
        .required("identity_token", .text("Apple's ID token.", minLength: 1)),
        .required("nonce", .text("The raw nonce; Apple was given its SHA-256 in hex.", minLength: 1, maxLength: 2048)),
        .optional("authorization_code", .text(orNull: true)),
        .optional("full_name", .text("Apple tells it the first time only.", orNull: true)),
        .optional("email", .text(orNull: true)),
    ]).named("AppleSignIn")
}
