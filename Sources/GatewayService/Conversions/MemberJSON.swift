import API
import JOSE

extension AppV1.Member {
    /// Writes the member as answers tell it.
    func write(to json: inout JSONWriter) {
        json.add("id", memberID)
        json.add("state", state.word)
        json.add("user_id", orNull: userID)
        json.add("phone_number", orNull: phoneNumber)
        json.add("display_name", orNull: displayName)
        json.add("added_at", hasAddedAt ? addedAt : nil)
        json.add("username", orNull: username)
        json.add("avatar_url", orNull: avatarURL)
        json.add("role", orNull: state == .member ? role.word : "")
        json.add("unconfirmed", isUnconfirmed)
        json.add("unproven", isUnproven)
    }
}

extension AppV1.MemberState {
    /// The state as JSON has it.
    fileprivate var word: String {
        switch self {
        case .member: "member"
        case .invited: "invited"
        case .unspecified, .pending, .UNRECOGNIZED: "pending"
        }
    }
}

extension AppV1.AddMembersResult {
    /// Writes what came of a person to add.
    func write(to json: inout JSONWriter) {
        switch outcome {
        case .member(let member):
            json.add("member", addMembers: member.write(to:))
            json.addNull("refusal")
        case .refusal(let refusal):
            json.addNull("member")
            json.add("refusal", addMembers: refusal.write(to:))
        case nil:
            json.addNull("member")
            json.addNull("refusal")
        }
    }
}

extension AppV1.AddMembersRefusal {
    /// Writes why a person wasn't added, in the words of a problem.
    func write(to json: inout JSONWriter) {
        json.add("code", reason)
        json.add("detail", message)
        json.add("field", orNull: field)
        if retryAfterMs > 0 {
            json.add("retry_after_seconds", (retryAfterMs - 1) / 1000 + 1)
        } else {
            json.addNull("retry_after_seconds")
        }
    }
}

extension OpenAPI.Schema {
    /// A member as answers tell it.
    static let member = object([
        .required("id", .uuid),
        .required("state", .oneOf(["member", "pending", "invited"])),
        .required("user_id", .text("Null until the person is a member.", format: .uuid, orNull: true)),
        .required(
            "phone_number",
            .phoneNumberOrNull(
                """
                E.164; null for the creator, and unless the user is this person, added them, or is an admin or the owner.
                """
            )
        ),
        .required(
            "display_name",
            .text(
                "In lists the person's own name once they have set one, else the inviter's name for them.",
                minLength: 1,
                orNull: true
            )
        ),
        .required("added_at", .moment),
        .required(
            "role",
            .text(
                "owner, admin or member; null until the person is a member.",
                pattern: "^(owner|admin|member)$",
                orNull: true
            )
        ),
        .required(
            "unconfirmed",
            .boolean(
                "Whether the user has the number no more that they were added by, and nobody has confirmed them since."
            )
        ),
        .required(
            "unproven",
            .boolean(
                """
                Whether the user is a member by a phone number alone that nobody has proven, and nobody has confirmed them: they add and \
                confirm nobody until then.
                """
            )
        ),
        .required("username", .text("In lists the person's own.", minLength: 1, maxLength: 20, orNull: true)),
        .required("avatar_url", .avatarOrNull),
    ]).named("Member")

    /// A person to add.
    static let newMember = object([
        .required("phone_number", .newPhoneNumber),
        .required("display_name", .newContactName),
    ]).named("NewMember")

    /// What came of a person to add: one of both is null.
    static let addedMember = object([
        .required("member", object([], description: "As a member sees it; null if refused.", orNull: true)),
        .required(
            "refusal",
            object(
                [
                    .required("code", .text("As adding one person would say it.", minLength: 1)),
                    .required("detail", .text("Words for people.")),
                    .required("field", .text("The field at fault.", minLength: 1, orNull: true)),
                    .required(
                        "retry_after_seconds",
                        .integer("After how long another try may succeed.", minimum: 1, orNull: true)
                    ),
                ],
                description: "Why not; null if added.",
                orNull: true
            )
        ),
    ]).named("AddedMember")
}

extension OpenAPI.Answer {
    static let member = shared("The member.", .member)
}
