import API
import HTTPJSON
import HTTPTypes

/// `POST /auth/guest`: creates a guest account, and opens its session.
enum SignInAsGuestRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/auth/guest",
        id: "signInAsGuest",
        tag: .auth,
        summary: "Creates a guest account, and opens its session",
        description: """
            For who wants to begin without signing in. /auth/guest/challenge says how much work proof_of_work takes. 400 with \
            GUESTS_NOT_ENABLED where guests are off; with WORK_REQUIRED, WORK_INVALID, WORK_EXPIRED or WORK_SPENT for a proof that is \
            missing or not good: ask for another challenge. 429 with TOO_MANY_GUESTS for too many of one address, or in all. The same \
            proof within a minute gets the same session. /auth/identities/{provider} makes the account a full one, with the same id.
            """,
        caller: .anyone,
        body: .optional(.guest),
        answers: [200: .session],
        problems: [.fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            var call = AppV1.SignInAsGuestRequest()
            if var input = try await context.optionalJSON(request) {
                call.proofOfWork = input.optionalString("proof_of_work") ?? ""
                call.deviceName = input.optionalString("device_name") ?? ""
                try input.finish()
            }
            let session = try await methods.signInAsGuest(call, .route(request, context))
            return .json(addMembers: session.write(to:))
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let guest = object([
        .optional(
            "proof_of_work",
            .text("The challenge, a full stop, and up to twenty digits.", maxLength: 256, orNull: true)
        ),
        .optional("device_name", .text("Shown in the list of sessions.", orNull: true)),
    ]).named("GuestSignIn")
}
