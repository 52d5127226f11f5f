import API
import JOSE

extension AppV1.Session {
    /// Writes the session as answers tell it.
    func write(to json: inout JSONWriter) {
        json.add("id", sessionID)
        json.add("device_name", orNull: deviceName)
        json.add("provider", provider)
        json.add("created_at", createdAt)
        json.add("last_used_at", lastUsedAt)
        json.add("current", isCurrent)
    }
}

extension OpenAPI.Schema {
    /// A session as answers tell it.
    static let listedSession = object([
        .required("id", .uuid),
        .required("device_name", .text("As its app or the user calls it.", minLength: 1, orNull: true)),
        .required("provider", .text("Through whom the user signed in.", minLength: 1)),
        .required("created_at", .moment),
        .required("last_used_at", .text("When its tokens were last renewed.", format: .dateTime)),
        .required("current", .boolean("Whether it is the session that asks.")),
    ]).named("ListedSession")
}

extension OpenAPI.Answer {
    static let listedSession = shared("The session.", .listedSession)
}

extension OpenAPI.Parameter {
    /// The session of a path.
    static let sessionID = Self(component: "sessionID", name: "id", place: .path, schema: .uuid)
}
