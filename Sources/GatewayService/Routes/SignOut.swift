import API
import HTTPJSON
import HTTPTypes

/// `POST /auth/sign-out`: ends the session of the bearer token, be it expired, or of a `refresh_token` in the body.
///
/// Ending a session that is over or never was is a success (RFC 7009 section 2.2).
enum SignOut {
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

    static func endpoint(_ identity: IdentityServiceClient) -> Endpoint {
        Endpoint(operation) { request, context in
            var call = IdentityV1.SignOutRequest()
            if var input = try await context.optionalJSON(request), input.contains("refresh_token") {
                call.refreshToken = input.string("refresh_token")
                try input.finish()
            } else if let token = try Authentication.token(request) {
                call.accessToken = token
            } else {
                throw Problem(
                    .unauthorized,
                    code: "AUTHENTICATION_REQUIRED",
                    detail: "Signing out needs the access token, or the refresh_token in the body.",
                    headers: [.wwwAuthenticate: Authentication.challenge]
                )
            }
            _ = try await identity.signOut(call, options: context.callOptions())
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
