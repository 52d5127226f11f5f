import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `POST /api/auth/sign-out`: ends the session of the bearer token, be it expired.
enum SingleTokenSignOut {
    static let operation = OpenAPI.Operation(
        .post,
        "/api/auth/sign-out",
        id: "singleTokenSignOut",
        tag: .auth,
        summary: "Ends the session of the bearer token",
        caller: .userOrAnyone,
        answers: [200: .init("The session is over, or never was.", .succeeded)],
        errors: .singleToken
    )

    static func endpoint(_ parts: DialectParts) -> Endpoint {
        Endpoint(operation) { request, context in
            var call = IdentityV1.SignOutRequest()
            call.accessToken = try Authentication.requiredToken(request.headers)
            try await parts.methods.endSessions(call, options: context.callOptions())
            return .json(["success": true])
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let succeeded = object([.required("success", .constant(true))]).named("SingleTokenSuccess")
}
