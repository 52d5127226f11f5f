import API
import HTTPJSON
import HTTPTypes

/// `POST /auth/sign-out-everywhere`: ends all sessions of the user, or all but the one that asks.
enum SignOutEverywhereRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/auth/sign-out-everywhere",
        id: "signOutEverywhere",
        tag: .auth,
        summary: "Ends all sessions of the user, or all but the one that asks",
        caller: .user,
        body: .optional(.signOutEverywhere),
        answers: [204: .init("The sessions are over.")]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            var call = AppV1.SignOutEverywhereRequest()
            if var input = try await context.optionalJSON(request) {
                call.exceptCurrent = input.optionalBool("except_current") ?? false
                try input.finish()
            }
            _ = try await methods.signOutEverywhere(call, .route(request, context))
            return Response(status: .noContent)
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let signOutEverywhere = object([
        .optional(
            "except_current",
            .boolean("Whether the session that asks goes on; false if absent.", orNull: true)
        )
    ]).named("SignOutEverywhere")
}
