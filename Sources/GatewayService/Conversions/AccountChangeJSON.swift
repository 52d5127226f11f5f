import API
import JOSE

extension AppV1.AccountChange {
    /// Writes the change as an entry of the list of sessions.
    func write(to json: inout JSONWriter) {
        writeNotice(to: &json)
        json.add("session_id", orNull: sessionID)
        json.add("device_name", orNull: deviceName)
    }

    /// Writes the change as an event of the stream.
    func writeNotice(to json: inout JSONWriter) {
        json.add("kind", kind)
        json.add("provider", orNull: provider)
        json.add("occurred_at", occurredAt)
    }
}

extension OpenAPI.Schema {
    /// A change as an entry of the list of sessions.
    static let accountChange = object([
        .required(
            "kind",
            .text(
                "provider_linked, provider_unlinked, deletion_scheduled or deletion_cancelled. More may be added: show those that the "
                    + "app knows.",
                minLength: 1
            )
        ),
        .required("provider", .text("The provider that it is about.", minLength: 1, orNull: true)),
        .required("occurred_at", .moment),
        .required(
            "session_id",
            .text("The session by which it was made, which may be over.", format: .uuid, orNull: true)
        ),
        .required("device_name", .text("What that session's device is called.", minLength: 1, orNull: true)),
    ]).named("AccountChange")
}
