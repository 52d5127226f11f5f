import API
import JOSE

extension AppV1.Member {
    /// The member as answers tell it.
    var json: JSONObject {
        [
            "id": .string(memberID),
            "state": .string(state == .member ? "member" : "pending"),
            "user_id": .orNull(userID),
            "phone_number": .orNull(phoneNumber),
            "display_name": .orNull(displayName),
            "added_at": hasAddedAt ? .moment(addedAt) : .null,
        ]
    }
}

extension OpenAPI.Schema {
    /// A member as answers tell it.
    static let member = object([
        .required("id", .uuid),
        .required("state", .oneOf(["member", "pending"])),
        .required("user_id", .text("Null while pending.", format: .uuid, orNull: true)),
        .required("phone_number", .phoneNumberOrNull("E.164; null for the creator.")),
        .required("display_name", .text(minLength: 1, orNull: true)),
        .required("added_at", .moment),
    ]).named("Member")
}

extension OpenAPI.Answer {
    static let member = shared("The member.", .member)
}
