import API
import HTTPJSON
import HTTPTypes

/// `POST /auth/sign-out`: ends the session of the bearer token, be it expired, or of a `refresh_token` in the body.
///
/// Ending a session that is over or never was is a success (RFC 7009 section 2.2).
enum SignOutRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/auth/sign-out",
        id: "signOut",
        tag: .auth,
        summary: "Ends the session of the bearer token, or of the refresh token in the body",
        caller: .userOrAnyone,
        body: .optional(.signOut),
        answers: [204: .init("The session is over, or never was.")]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            var call = AppV1.SignOutRequest()
            if var input = try await context.optionalJSON(request) {
                if input.contains("refresh_token") { call.refreshToken = input.string("refresh_token") }
                try input.finish()
            }
            _ = try await methods.signOut(call, .route(request, context))
            return Response(status: .noContent)
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let signOut = object(
        [.optional("refresh_token", .text(minLength: 1))],
        description:
            "Without a refresh token it is the bearer token's session that ends. A text that is no token is one whose session is over."
    ).named("SignOut")
}
