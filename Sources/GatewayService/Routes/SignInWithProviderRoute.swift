import API
import HTTPJSON
import HTTPTypes

/// `POST /auth/{provider}`: opens a session for what any configured provider gave the app.
enum SignInWithProviderRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/auth/{provider}",
        id: "signInWithProvider",
        tag: .auth,
        summary: "Opens a session for what a configured provider gave the app",
        description: """
            404 with PROVIDER_UNKNOWN where no provider of this name is configured; with ACCOUNT_NOT_FOUND where create is \
            false and there is no account, and then nothing has changed. 403 with ACCOUNT_BLOCKED where an operator keeps the \
            account's person out. 503 with ACCOUNT_HELD while it isn't decided whether a number that came along opens an old \
            account; the same credentials are good again in a moment. The paths of our own words, such as /auth/refresh, \
            are no providers'.
            """,
        caller: .anyone,
        parameters: [.provider],
        body: .required(
            .credentials(
                "ProviderSignIn",
                idToken: [
                    .optional("id_token", .text("The provider's ID token.", orNull: true)),
                    .optional("identity_token", .text("The same, by Apple's name for it.", orNull: true)),
                ]
            )
        ),
        answers: [200: .session],
        problems: [.refused, .forbidden, .notFound, .conflict, .fieldsAtFault]
    )

    static func endpoint(_ credentials: ProviderCredentials) -> Endpoint {
        Endpoint(operation) { request, context in
            let provider = context.parameters.get("provider") ?? ""
            return try await credentials.signIn(by: provider, request, context)
        }
    }
}

extension OpenAPI.Parameter {
    /// The provider of a path.
    static let provider = inPath("provider", of: AppV1.UnlinkProviderRequest.self)
}
