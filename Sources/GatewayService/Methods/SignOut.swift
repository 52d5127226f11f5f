import API
import HTTPJSON
import HTTPTypes
import JOSE

extension AppMethods {
    /// Ends the session of the refresh token, or else of the access token, be it expired. Ending a session that is over or
    /// never was is a success (RFC 7009 section 2.2).
    func signOut(_ request: AppV1.SignOutRequest, _ caller: Caller) async throws -> AppV1.SignOutResponse {
        var call = IdentityV1.SignOutRequest()
        var key: JWKThumbprint?
        if request.hasRefreshToken {
            // An app that has lost its token must not believe that it signed out.
            guard !request.refreshToken.isEmpty else { throw Self.emptyRefreshToken }
            call.refreshToken = request.refreshToken
        } else if caller.headers.contains(.authorization) {
            let token = try authentication.presentedToIdentity(caller)
            call.accessToken = token.text
            key = token.key
        } else {
            throw Problem(
                .unauthorized,
                code: "AUTHENTICATION_REQUIRED",
                detail: "Signing out needs the access token, or the refresh_token in the body.",
                headers: [.wwwAuthenticate: Authentication.challenge]
            )
        }
        try await endSessions(call, options: caller.callOptions().naming(key))
        return AppV1.SignOutResponse()
    }

    private static let emptyRefreshToken = Problem(
        .badRequest,
        code: "REQUEST_INVALID",
        detail: "The request does not have the form that this method expects.",
        fields: [.init("refresh_token", code: "REQUIRED", detail: "This field must not be empty.")]
    )
}
