import API
import JOSE

extension AppV1.Group {
    /// The group as answers tell it.
    var json: JSONObject {
        [
            "id": .string(groupID),
            "name": .string(name),
            "owner_user_id": .string(ownerUserID),
            "created_at": hasCreatedAt ? .moment(createdAt) : .null,
        ]
    }
}

extension OpenAPI.Schema {
    /// A group as answers tell it.
    static let group = object([
        .required("id", .uuid),
        .required("name", .text(minLength: 1)),
        .required("owner_user_id", .uuid),
        .required("created_at", .moment),
    ]).named("Group")

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
}
