import API
import JOSE

extension AppV1.SignInWithProviderResponse {
    /// Writes the opened session as routes answer it.
    func write(to json: inout JSONWriter) {
        tokens.write(
            to: &json,
            isNewUser: isNewUser,
            missingFields: missingFieldsUnknown ? nil : missingFields,
            suggestedDisplayName: suggestedDisplayName
        )
    }
}

extension AppV1.RefreshSessionResponse {
    /// Writes the continued session as routes answer it.
    func write(to json: inout JSONWriter) {
        tokens.write(
            to: &json,
            isNewUser: false,
            missingFields: missingFieldsUnknown ? nil : missingFields,
            suggestedDisplayName: suggestedDisplayName
        )
    }
}

extension AppV1.SignInAsGuestResponse {
    /// Writes the guest's session as routes answer it.
    func write(to json: inout JSONWriter) {
        tokens.write(
            to: &json,
            isNewUser: true,
            missingFields: missingFieldsUnknown ? nil : missingFields,
            suggestedDisplayName: ""
        )
    }
}

extension AppV1.SignInWithPasskeyResponse {
    /// Writes the opened session as routes answer it.
    func write(to json: inout JSONWriter) {
        tokens.write(
            to: &json,
            isNewUser: false,
            missingFields: missingFieldsUnknown ? nil : missingFields,
            suggestedDisplayName: ""
        )
    }
}

extension AppV1.SessionTokens {
    /// Writes the answer of every route that opens or continues a session. `missing_fields` is null where they are not known,
    /// which means "ask `/me`".
    fileprivate func write(
        to json: inout JSONWriter,
        isNewUser: Bool,
        missingFields: [String]?,
        suggestedDisplayName: String
    ) {
        json.add("access_token", accessToken)
        json.add("refresh_token", refreshToken)
        json.add("token_type", tokenType)
        json.add("expires_in", Int64(expiresInSeconds))
        if !idToken.isEmpty { json.add("id_token", idToken) }
        json.add("user_id", userID)
        json.add("session_id", sessionID)
        json.add("is_new_user", isNewUser)
        json.add("missing_fields", missingFields)
        json.add("suggested_display_name", orNull: suggestedDisplayName)
    }
}

extension OpenAPI.Schema {
    static let session = object([
        .required("access_token", .text("A JWT (RFC 9068) for the Authorization header.", minLength: 1)),
        .required("refresh_token", .text("Can be exchanged once.", minLength: 1, maxLength: 512)),
        .required("token_type", .oneOf(TokenType.names)),
        .required("expires_in", .integer("Seconds until the access token expires.", minimum: 1)),
        .optional(
            "id_token",
            .text("Who signed in (OpenID Connect), unless the app's audience is set not to get one.", minLength: 1)
        ),
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
