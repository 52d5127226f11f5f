import API
import HTTPJSON
import JOSE
import Logging
import RPC

/// The answer of every route that opens or continues a session.
struct SessionAnswer: Sendable {
    /// How long profile may take to tell what is missing.
    static let profileWait = Duration.seconds(2)

    let profile: ProfileServiceClient

    /// The answer, with what the profile still lacks.
    ///
    /// The session exists by now and its tokens are told only once, so a profile service that is down must not lose
    /// them: then `missing_fields` is null, which means "ask `/me`".
    func response(
        _ tokens: IdentityV1.SessionTokens,
        isNewUser: Bool,
        suggestedDisplayName: String,
        context: RouteContext
    ) async -> Response {
        let missing = await missingFields(tokens.userID, context)
        return .json([
            "access_token": .string(tokens.accessToken),
            "refresh_token": .string(tokens.refreshToken),
            "token_type": "Bearer",
            "expires_in": .integer(tokens.expiresInSeconds),
            "id_token": .string(tokens.idToken),
            "user_id": .string(tokens.userID),
            "session_id": .string(tokens.sessionID),
            "is_new_user": .bool(isNewUser),
            "missing_fields": missing.map { .array($0.map { .string($0) }) } ?? .null,
            "suggested_display_name": .orNull(suggestedDisplayName),
        ])
    }

    private func missingFields(_ userID: String, _ context: RouteContext) async -> [String]? {
        var request = ProfileV1.GetProfileRequest()
        request.userID = userID
        do {
            let options = context.callOptions(limit: Self.profileWait)
            return try await profile.getProfile(request, options: options).profile.missingFields
        } catch {
            context.logger.warning("missing fields are unknown", metadata: ["rpc_code": "\(error.code)"])
            return nil
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let session = object([
        .required("access_token", .text("A JWT (RFC 9068) for the Authorization header.", minLength: 1)),
        .required("refresh_token", .text("Can be exchanged once.", minLength: 1, maxLength: 512)),
        .required("token_type", .constant("Bearer")),
        .required("expires_in", .integer("Seconds until the access token expires.", minimum: 1)),
        .required("id_token", .text(minLength: 1)),
        .required("user_id", .uuid),
        .required("session_id", .uuid),
        .required("is_new_user", .bool),
        .required(
            "missing_fields",
            .list(
                of: .missingField,
                "What to ask the user for, in this order; null if not known now: ask /me.",
                orNull: true
            )
        ),
        .required("suggested_display_name", .text(minLength: 1, orNull: true)),
    ]).named("Session")
}

extension OpenAPI.Answer {
    static let session = shared("The session's tokens, and what the profile still lacks.", .session)
}
