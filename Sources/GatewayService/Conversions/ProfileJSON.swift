import API
import JOSE

extension AppV1.Profile {
    /// The user as `/me` answers.
    var json: JSONObject {
        [
            "user_id": .string(userID),
            "display_name": .orNull(displayName),
            "username": .orNull(username),
            "phone_number": .orNull(phoneNumber),
            "missing_fields": .array(missingFields.map { .string($0) }),
            "updated_at": hasUpdatedAt ? .moment(updatedAt) : .null,
        ]
    }
}

extension OpenAPI.Schema {
    /// The user as `/me` answers.
    static let profile = object([
        .required("user_id", .uuid),
        .required("display_name", .text(minLength: 1, orNull: true)),
        .required("username", .text(minLength: 1, maxLength: 20, pattern: "^[A-Za-z0-9_]+$", orNull: true)),
        .required("phone_number", .phoneNumberOrNull("E.164.")),
        .required("missing_fields", .list(of: .missingField)),
        .required("updated_at", .text(format: .dateTime, orNull: true)),
    ]).named("Profile")
}

extension OpenAPI.Answer {
    static let profile = shared("The whole profile.", .profile)
}
