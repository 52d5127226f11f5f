import API
import JOSE

extension AppV1.SignInWithProviderResponse {
    /// The opened session as routes answer it.
    var json: JSONObject {
        tokens.json(
            isNewUser: isNewUser,
            missingFields: missingFieldsUnknown ? nil : missingFields,
            suggestedDisplayName: suggestedDisplayName
        )
    }
}

extension AppV1.RefreshSessionResponse {
    /// The continued session as routes answer it.
    var json: JSONObject {
        tokens.json(
            isNewUser: false,
            missingFields: missingFieldsUnknown ? nil : missingFields,
            suggestedDisplayName: suggestedDisplayName
        )
    }
}

extension AppV1.SessionTokens {
    /// The answer of every route that opens or continues a session. `missing_fields` is null where they are not known, which
    /// means "ask `/me`".
    fileprivate func json(isNewUser: Bool, missingFields: [String]?, suggestedDisplayName: String) -> JSONObject {
        [
            "access_token": .string(accessToken),
            "refresh_token": .string(refreshToken),
            "token_type": "Bearer",
            "expires_in": .integer(Int64(expiresInSeconds)),
            "id_token": .string(idToken),
            "user_id": .string(userID),
            "session_id": .string(sessionID),
            "is_new_user": .bool(isNewUser),
            "missing_fields": missingFields.map { .array($0.map { .string($0) }) } ?? .null,
            "suggested_display_name": .orNull(suggestedDisplayName),
        ]
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
