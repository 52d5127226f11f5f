import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `POST /auth/challenge`: makes a nonce for a sign-in.
enum CreateChallengeRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/auth/challenge",
        id: "createChallenge",
        tag: .auth,
        summary: "Makes a nonce for a sign-in",
        description: """
            The app hands the nonce to the provider and then, as it is, to the route that signs in. For Apple the app hashes it \
            first: `request.nonce` is the SHA-256 of the nonce's UTF-8 bytes in lowercase hexadecimal, 64 characters. For Google \
            it hands over the nonce as it is. (An audience whose `match` differs is treated accordingly.) Apps whose audience is configured so are let in with no other. 404 with PROVIDER_UNKNOWN where \
            no provider of this name is configured; 422 with CLIENT_UNKNOWN for an audience that it has not, or where it has \
            several and none is named.
            """,
        caller: .anyone,
        body: .required(.signInToCome),
        answers: [200: .init("The nonce.", .challenge)],
        problems: [.notFound, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            var input = try await context.json(request)
            var call = AppV1.CreateChallengeRequest()
            call.provider = input.string("provider")
            call.clientID = input.optionalString("client_id") ?? ""
            try input.finish()
            let challenge = try await methods.createChallenge(call, .route(request, context))
            return .json([
                "nonce": .string(challenge.nonce), "expires_in": .integer(Int64(challenge.expiresInSeconds)),
            ])
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let signInToCome = object([
        .required("provider", .text("A configured provider's name.", minLength: 1)),
        .optional(
            "client_id",
            .text("The audience of the ID token; may be left out where the provider has only one.", orNull: true)
        ),
    ]).named("SignInToCome")

    fileprivate static let challenge = object([
        .required("nonce", .text("The raw nonce, in base64url.", minLength: 43)),
        .required("expires_in", .integer("Seconds for which it is good.", minimum: 1)),
    ]).named("Challenge")
}
