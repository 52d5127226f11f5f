import API
import JOSE

extension AppV1.Invitation {
    /// Writes the invitation as answers tell it.
    func write(to json: inout JSONWriter) {
        json.add("id", memberID)
        json.add("group_id", groupID)
        json.add("group_name", groupName)
        json.add("waits_for", state == .consent ? "consent" : "confirmation")
        json.add("added_by_user_id", orNull: addedByUserID)
        json.add("request", isRequest)
        json.add("since", since)
        json.add("expires_at", hasExpiresAt ? expiresAt : nil)
    }
}

extension AppV1.PendingPerson {
    /// Writes the person as answers tell it.
    func write(to json: inout JSONWriter) {
        json.add("id", memberID)
        json.add("state", state.word)
        json.add("user_id", orNull: userID)
        json.add("phone_number", orNull: phoneNumber)
        json.add("display_name", orNull: displayName)
        json.add("added_by_user_id", orNull: addedByUserID)
        json.add("since", since)
        json.add("expires_at", hasExpiresAt ? expiresAt : nil)
        json.add("may_confirm", mayConfirm)
    }
}

extension AppV1.PendingState {
    /// What is undecided, as JSON has it.
    fileprivate var word: String {
        switch self {
        case .request: "request"
        case .doubt: "doubt"
        case .number, .unspecified, .UNRECOGNIZED: "number"
        }
    }
}

extension AppV1.GroupLink {
    /// Writes the link as answers tell it.
    ///
    /// - Parameter token: what people join by; only the answer that makes a link has it.
    func write(to json: inout JSONWriter, token: String? = nil) {
        json.add("id", linkID)
        if let token { json.add("token", token) }
        json.add("created_by_user_id", orNull: createdByUserID)
        json.add("created_at", createdAt)
        json.add("expires_at", expiresAt)
        if usesMax > 0 { json.add("uses_max", Int64(usesMax)) } else { json.addNull("uses_max") }
        json.add("uses", Int64(uses))
    }
}

extension OpenAPI.Schema {
    /// An invitation as answers tell it.
    static let invitation = object([
        .required("id", .uuid),
        .required("group_id", .uuid),
        .required("group_name", .text(minLength: 1)),
        .required("waits_for", .oneOf(["consent", "confirmation"])),
        .required("added_by_user_id", .text("Null for a request to join.", format: .uuid, orNull: true)),
        .required("request", .boolean("Whether it is the user's own request to join.")),
        .required("since", .moment),
        .required("expires_at", .text("Null for ever.", format: .dateTime, orNull: true)),
    ]).named("Invitation")

    /// A person whom a group waits for as answers tell it.
    static let pendingPerson = object([
        .required("id", .uuid),
        .required("state", .oneOf(["number", "request", "doubt"])),
        .required(
            "user_id",
            .text("Whom confirming is about; null where nobody is, or may not be known.", format: .uuid, orNull: true)
        ),
        .required(
            "phone_number",
            .phoneNumberOrNull(
                """
                E.164; null for one who asks by a link, and unless the user is this person, added them, or is an admin or the owner.
                """
            )
        ),
        .required("display_name", .text(minLength: 1, orNull: true)),
        .required("added_by_user_id", .text(format: .uuid, orNull: true)),
        .required("since", .moment),
        .required("expires_at", .text("Null for ever.", format: .dateTime, orNull: true)),
        .required("may_confirm", .boolean("Whether the user may confirm or keep the person now.")),
    ]).named("PendingPerson")

    private static let groupLinkMembers: [Member] = [
        .required("id", .uuid),
        .required("created_by_user_id", .text(format: .uuid, orNull: true)),
        .required("created_at", .moment),
        .required("expires_at", .moment),
        .required(
            "uses_max",
            .integer("How many users may join by it; null for any number.", minimum: 1, maximum: 1000, orNull: true)
        ),
        .required("uses", .integer("How many have.", minimum: 0)),
    ]
    /// A link as answers tell it.
    static let groupLink = object(groupLinkMembers).named("GroupLink")
    /// A link that was just made.
    static let madeGroupLink = object(
        groupLinkMembers + [
            .required(
                "token",
                .text("People join with this token. It is returned here and never again.", minLength: 43, maxLength: 43)
            )
        ]
    ).named("MadeGroupLink")
    /// A body that shows a link's token.
    static let groupLinkToken = object([
        .required("token", .text("The link's token.", minLength: 1, maxLength: 512))
    ]).named("GroupLinkToken")
}

extension OpenAPI.Parameter {
    /// The link of a path.
    static let groupLinkID = Self(component: "groupLinkID", name: "link_id", place: .path, schema: .uuid)
    /// The user of a path.
    static let inviterUserID = Self(component: "inviterUserID", name: "user_id", place: .path, schema: .uuid)
}
