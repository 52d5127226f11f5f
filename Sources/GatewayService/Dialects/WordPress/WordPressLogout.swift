import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `POST /wp-json/gread/v1/auth/logout`: ends the session of the bearer token. The token would live on otherwise for as long as
/// a session may.
enum WordPressLogout {
    static let operation = OpenAPI.Operation(
        .post,
        "/wp-json/gread/v1/auth/logout",
        id: "wordPressLogout",
        tag: .auth,
        summary: "Ends the session of the bearer token",
        caller: .userOrAnyone,
        answers: [200: .init("The session is over, or never was.", .loggedOut)],
        errors: .wordPress
    )

    static func endpoint(_ parts: DialectParts) -> Endpoint {
        Endpoint(operation) { request, context in
            var call = IdentityV1.SignOutRequest()
            call.accessToken = try Authentication.requiredToken(request.headers)
            try await parts.methods.endSessions(call, options: context.callOptions())
            return .json(["success": true, "message": "Logout successful"])
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let loggedOut = object([
        .required("success", .constant(true)), .required("message", .text(minLength: 1)),
    ]).named("WordPressLoggedOut")
}
