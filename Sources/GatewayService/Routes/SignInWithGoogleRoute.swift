import HTTPJSON
import HTTPTypes

/// `POST /auth/google`: opens a session for what Google gave the app.
enum SignInWithGoogleRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/auth/google",
        id: "signInWithGoogle",
        tag: .auth,
        summary: "Opens a session for what Google gave the app",
        description: "404 with ACCOUNT_NOT_FOUND where create is false and there is no account.",
        caller: .anyone,
        body: .required(
            .credentials(
                "GoogleSignIn",
                idToken: [
                    .optional("id_token", .text("Google's ID token.", orNull: true)),
                    .optional("identity_token", .text("The same, by Apple's name for it.", orNull: true)),
                ]
            )
        ),
        answers: [200: .session],
        problems: [.refused, .forbidden, .notFound, .conflict, .fieldsAtFault]
    )

    static func endpoint(_ credentials: ProviderCredentials) -> Endpoint {
        Endpoint(operation) { request, context in
            try await credentials.signIn(by: "google", request, context)
        }
    }
}
