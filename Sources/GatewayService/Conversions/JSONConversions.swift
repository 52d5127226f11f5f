import API
import JOSE

extension JSONValue {
    /// The text, or null for an empty one, which is how the services say that there is none.
    static func orNull(_ text: String) -> JSONValue { text.isEmpty ? .null : .string(text) }

    /// The moment, or null for zero, which is how the services say never.
    static func moment(milliseconds: Int64) -> JSONValue {
        milliseconds == 0 ? .null : .string(RFC3339.text(milliseconds: milliseconds))
    }
}

extension ProfileV1.Profile {
    /// The user as `/me` answers.
    var json: JSONObject {
        [
            "user_id": .string(userID),
            "display_name": .orNull(displayName),
            "username": .orNull(username),
            "phone_number": .orNull(phoneNumber),
            "missing_fields": .array(missingFields.map { .string($0) }),
            "updated_at": .moment(milliseconds: updatedAtMs),
        ]
    }
}

extension InvitesV1.Group {
    /// The group as answers tell it.
    var json: JSONObject {
        [
            "id": .string(groupID),
            "name": .string(name),
            "owner_user_id": .string(ownerUserID),
            "created_at": .moment(milliseconds: createdAtMs),
        ]
    }
}

extension InvitesV1.Member {
    /// The member as answers tell it.
    var json: JSONObject {
        [
            "id": .string(memberID),
            "state": .string(state == .member ? "member" : "pending"),
            "user_id": .orNull(userID),
            "phone_number": .orNull(phoneNumber),
            "display_name": .orNull(displayName),
            "added_at": .moment(milliseconds: addedAtMs),
        ]
    }
}
