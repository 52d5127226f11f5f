import API
import HTTPJSON
import JOSE

extension AppV1.Group {
    /// Writes the group as answers tell it.
    func write(to json: inout JSONWriter) {
        json.add("id", groupID)
        json.add("name", name)
        json.add("owner_user_id", ownerUserID)
        json.add("created_at", hasCreatedAt ? createdAt : nil)
        json.add("openness", openness.word)
        json.add("role", role.word)
    }
}

extension AppV1.GroupOpenness {
    /// The openness as JSON has it. A service of a version before says none: its groups are open.
    var word: String {
        switch self {
        case .unspecified, .open: "open"
        case .confirm: "confirm"
        case .consent, .UNRECOGNIZED: "consent"
        }
    }
}

extension AppV1.GroupRole {
    /// The role as JSON has it. A service of a version before says none: it knows no other members.
    var word: String {
        switch self {
        case .owner: "owner"
        case .admin: "admin"
        case .unspecified, .member, .UNRECOGNIZED: "member"
        }
    }
}

extension JSONInput {
    /// How open a group is to be; unspecified where the field is absent.
    mutating func openness(_ name: String) -> AppV1.GroupOpenness {
        guard contains(name) else { return .unspecified }
        switch string(name) {
        case "": return .unspecified  // noted as a fault
        case "open": return .open
        case "confirm": return .confirm
        case "consent": return .consent
        default:
            addError(name, code: "OPENNESS_INVALID", detail: "The openness must be open, confirm or consent.")
            return .unspecified
        }
    }
}

extension OpenAPI.Schema {
    /// A group as answers tell it.
    static let group = object([
        .required("id", .uuid),
        .required("name", .text(minLength: 1)),
        .required("owner_user_id", .uuid),
        .required("created_at", .moment),
        .required("openness", .openness),
        .required("role", .oneOf(["owner", "admin", "member"])),
    ]).named("Group")

    /// How people who are added by phone number become members: at once, when the group confirms them, or when they accept.
    static let openness = oneOf(["open", "confirm", "consent"])

    /// A group's name that a client sends. Its length counts code points, of which a character may have several.
    static let newGroupName = text(
        "1 to 80 characters as people count them, of which one may be several code points.",
        minLength: 1,
        maxLength: 6400
    )
}

extension OpenAPI.Answer {
    static let group = shared("The group.", .group)
}

extension OpenAPI.Parameter {
    /// The group of a path.
    static let groupID = Self(component: "groupID", name: "id", place: .path, schema: .uuid)

    /// The membership of a path.
    static let memberID = Self(component: "memberID", name: "member_id", place: .path, schema: .uuid)
}
