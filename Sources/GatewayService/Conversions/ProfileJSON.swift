import API
import JOSE

extension AppV1.Profile {
    /// Writes the user as `/me` answers.
    func write(to json: inout JSONWriter) {
        json.add("user_id", userID)
        json.add("display_name", orNull: displayName)
        json.add("username", orNull: username)
        json.add("phone_number", orNull: phoneNumber)
        json.add("missing_fields", missingFields)
        json.add("updated_at", hasUpdatedAt ? updatedAt : nil)
        json.add("revision", revision)
        json.add("avatar_url", orNull: avatarURL)
        json.add("phone_proven", phoneProven)
        json.add("phone_taken_at", hasPhoneTakenAt ? phoneTakenAt : nil)
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
        .required("revision", .integer("How often the profile was changed.", minimum: 0)),
        .required("avatar_url", .avatarOrNull),
        .required(
            "phone_proven",
            .boolean("Whether it is proven that the number is the user's, which it is not by typing it.")
        ),
        .required(
            "phone_taken_at",
            .text(
                "When the number was taken by somebody who has proven it; null if none was, or another one was saved since.",
                format: .dateTime,
                orNull: true
            )
        ),
    ]).named("Profile")
}

extension OpenAPI.Schema {
    /// A picture in a response.
    static let avatarOrNull = text(
        "An https URL, or the path of an uploaded picture at this server where it doesn't know its public URL.",
        pattern: "^(https?://|/avatars/)",
        orNull: true
    )
}

extension OpenAPI.Answer {
    static let profile = shared("The whole profile.", .profile)
}
