import API
import HTTPJSON
import HTTPTypes

/// `POST /auth/passkey`: opens a session by a passkey.
enum SignInWithPasskeyRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/auth/passkey",
        id: "signInWithPasskey",
        tag: .auth,
        summary: "Opens a session by a passkey",
        description: """
            credential is the JSON text that the client made for the options of /auth/passkey/challenge. An account is never created. 401 \
            with PASSKEY_UNKNOWN for a passkey that no account has; with PASSKEY_INVALID for one that is not valid here. 400 with \
            PASSKEY_CHALLENGE_EXPIRED after five minutes: ask for another challenge. The same credential within a minute gets the same \
            session.
            """,
        caller: .anyone,
        body: .required(.passkeySignIn),
        answers: [200: .session],
        problems: [.refused, .forbidden, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            var input = try await context.json(request)
            var call = AppV1.SignInWithPasskeyRequest()
            call.credential = input.string("credential")
            call.deviceName = input.optionalString("device_name") ?? ""
            try input.finish()
            let session = try await methods.signInWithPasskey(call, .route(request, context))
            return .json(addMembers: session.write(to:))
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let passkeySignIn = object([
        .required(
            "credential",
            .text("A JSON text: AuthenticationResponseJSON of WebAuthn Level 3.", minLength: 1, maxLength: 60_000)
        ),
        .optional("device_name", .text("Shown in the list of sessions.", orNull: true)),
    ]).named("PasskeySignIn")
}
