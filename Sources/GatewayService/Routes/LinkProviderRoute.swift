import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `POST /auth/identities/{provider}`: links a further provider to the user's account.
enum LinkProviderRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/auth/identities/{provider}",
        id: "linkProvider",
        tag: .auth,
        summary: "Links a further provider to the user's account",
        description: """
            The body is that of a sign-in by the provider; create is ignored. One that is linked is a success. 403 with \
            RECENT_SIGN_IN_REQUIRED where the session was not opened within the last minutes: have the user sign in again and ask \
            with the new token. 403 with PROOF_REQUIRED where the session, or what is linked, is proven by neither a nonce nor an \
            authorization code: an access token proves nothing here, and beside an ID token without a nonce the code must be sent. 409 \
            with \
            PROVIDER_ALREADY_LINKED where the account has another identity of the provider, with IDENTITY_TAKEN where the identity \
            opens another account: then nothing changes, and what the provider gave is good for a sign-in still. 404 with \
            PROVIDER_UNKNOWN where no provider of this name is configured. Where one of the two accounts is empty, and the user has \
            signed in to this one within ten minutes, the other one absorbs it in place of IDENTITY_TAKEN; if this one is absorbed, \
            session is the one to go on with.
            """,
        caller: .user,
        parameters: [.provider],
        body: .required(
            .credentials(
                "ProviderLink",
                idToken: [
                    .optional("id_token", .text("The provider's ID token.", orNull: true)),
                    .optional("identity_token", .text("The same, by Apple's name for it.", orNull: true)),
                ]
            )
        ),
        answers: [200: .providerLinked],
        problems: [.forbidden, .notFound, .conflict, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            // A request without a token is refused for that, whatever else is wrong with it.
            try Authentication.requiredCredentials(request.headers)
            var input = try await context.json(request)
            var call = AppV1.LinkProviderRequest()
            call.credentials = ProviderCredentials.request(try context.parameters.require("provider"), &input)
            try input.finish()
            let linked = try await methods.linkProvider(call, .route(request, context))
            return .json { json in
                json.add("identities", messages: linked.providers)
                if linked.hasSession { json.add("session") { linked.session.write(to: &$0) } }
            }
        }
    }
}

extension OpenAPI.Answer {
    fileprivate static let providerLinked = Self(
        "The providers of the user's account, and the session to continue with if another account has absorbed it.",
        .object([
            .required("identities", .list(of: .message(AppV1.LinkedProvider.self))), .optional("session", .session),
        ]).named("ProviderLinked")
    )
}
