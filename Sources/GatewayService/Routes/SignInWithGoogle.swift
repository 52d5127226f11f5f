import API
import HTTPJSON
import HTTPTypes

/// `POST /auth/google`: opens a session for what Google gave the app.
enum SignInWithGoogle {
    static let operation = OpenAPI.Operation(
        .post,
        "/auth/google",
        id: "signInWithGoogle",
        tag: .auth,
        summary: "Opens a session for what Google gave the app",
        caller: .anyone,
        body: .required(.googleSignIn),
        answers: [200: .session],
        problems: [.refused, .fieldsAtFault]
    )

    static func endpoint(_ identity: IdentityServiceClient, _ answer: SessionAnswer) -> Endpoint {
        Endpoint(operation) { request, context in
            var input = try await context.json(request)
            var call = IdentityV1.SignInRequest()
            call.provider = "google"
            call.idToken = input.string("id_token")
            // Not every Google client can carry a nonce; whether one may be missing is identity's policy.
            call.nonce = input.optionalString("nonce") ?? ""
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
    fileprivate static let googleSignIn = object([
        .required("id_token", .text("Google's ID token.", minLength: 1)),
        .optional("nonce", .text(maxLength: 2048, orNull: true)),
        .optional("full_name", .text(orNull: true)),
        .optional("email", .text(orNull: true)),
    ]).named("GoogleSignIn")
}
