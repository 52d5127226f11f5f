import HTTPJSON
import HTTPTypes

/// `POST /auth/apple`: opens a session for what Sign in with Apple gave the app, or for the tickets of Apple by web.
enum SignInWithAppleRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/auth/apple",
        id: "signInWithApple",
        tag: .auth,
        summary: "Opens a session for what Sign in with Apple gave the app",
        description: """
            Tickets of Apple by web take the places of identity_token and authorization_code, with code_verifier where the \
            sign-in began with a code_challenge. 404 with ACCOUNT_NOT_FOUND where create is false and there is no account.
            """,
        caller: .anyone,
        body: .required(
            .credentials(
                "AppleSignIn",
                idToken: [
                    .optional("identity_token", .text("Apple's ID token.", orNull: true)),
                    .optional("id_token", .text("The same, by its usual name.", orNull: true)),
                ],
                nonce: " Apple is given its SHA-256 in lowercase hexadecimal, which is the token's nonce claim."
            )
        ),
        answers: [200: .session],
        problems: [.refused, .forbidden, .notFound, .conflict, .fieldsAtFault]
    )

    static func endpoint(_ credentials: ProviderCredentials) -> Endpoint {
        Endpoint(operation) { request, context in
            try await credentials.signIn(by: "apple", tokenField: "identity_token", request, context)
        }
    }
}
