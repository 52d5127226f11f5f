import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /me/events`: what changes in the user's groups, as server-sent events.
enum WatchGroupsRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/me/events",
        id: "watchGroups",
        tag: .groups,
        summary: "What changes in the user's groups, as it changes",
        description: """
            Server-sent events. `begin` comes at once and says where the stream begins; `reset` instead if it isn't known what was \
            missed, and whenever the app is to list everything anew. `changes` has a JSON object with `changes`, each with its \
            `type` (group.joined, group.left, group.changed, member.changed, invitation.changed) and the ids that it has. \
            `account_changed` says that another session changed the ways into the account (kind, provider, occurred_at, as in \
            recent_changes of GET /auth/sessions, which has those that were missed). `end` has the `code` of why the stream ends. To be read by fetch with the access token in a header: an EventSource can send \
            none.
            """,
        caller: .user,
        parameters: [.lastEventID],
        answers: [200: .events]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            var call = AppV1.WatchGroupsRequest()
            call.position = request.headers[.lastEventID] ?? ""
            let watch = try await methods.watchGroups(call, .route(request, context))
            return .events { stream in
                do {
                    try await stream.tell(watch.begun, name: "begin")
                    try await watch.follow { try await stream.tell($0, name: nil) }
                } catch let end as WatchEnd {
                    let problem = end.problem
                    try await stream.send(
                        String(
                            decoding: JSONWriter.object { json in
                                json.add("code", problem.code)
                                json.add("detail", problem.detail)
                            },
                            as: UTF8.self
                        ),
                        event: "end"
                    )
                }
            }
        }
    }
}

extension EventStream {
    /// Tells what changed, with the position as the event's id.
    ///
    /// - Parameter name: what news without a change are called; nil where they are a sign of life.
    fileprivate func tell(_ news: WatchUpdate, name: String?) async throws {
        let position = Base64URL.encode(news.position)
        if news.isReset {
            try await send("{}", event: "reset", id: position)
        } else {
            if let name { try await send("{}", event: name, id: news.changes.isEmpty ? position : nil) }
            if news.changes.isEmpty {
                if name == nil, news.accountChanges.isEmpty { try await sendComment() }
            } else {
                try await tell(news.changes, at: position)
            }
        }
        for change in news.accountChanges {
            let data = JSONWriter.object { json in
                json.add("kind", change.kind)
                json.add("provider", orNull: change.provider)
                json.add("occurred_at", RFC3339.text(milliseconds: change.occurredAtMs))
            }
            try await send(String(decoding: data, as: UTF8.self), event: "account_changed")
        }
    }

    private func tell(_ changes: [AppV1.GroupChange], at position: String) async throws {
        let data = JSONWriter.object { json in
            json.add("changes", changes) { change, json in
                json.add("type", change.kind.eventName)
                if !change.groupID.isEmpty { json.add("group_id", change.groupID) }
                if !change.memberID.isEmpty { json.add("member_id", change.memberID) }
            }
        }
        try await send(String(decoding: data, as: UTF8.self), event: "changes", id: position)
    }
}

extension AppV1.GroupChangeKind {
    /// As events call it.
    fileprivate var eventName: String {
        switch self {
        case .groupJoined: "group.joined"
        case .groupLeft: "group.left"
        case .groupChanged: "group.changed"
        case .memberChanged: "member.changed"
        case .invitationChanged: "invitation.changed"
        // Of a later version: the app asks for everything.
        case .unspecified, .UNRECOGNIZED: "other"
        }
    }
}

extension OpenAPI.Parameter {
    fileprivate static let lastEventID = Self(
        component: "lastEventID",
        name: "Last-Event-ID",
        place: .header,
        schema: .text(maxLength: 1024, pattern: "^[A-Za-z0-9_-]*$"),
        description: "The id of the last event of an earlier stream, to get what was missed; none to begin now."
    )
}

extension OpenAPI.Answer {
    fileprivate static let events: Self = {
        var answer = Self("Events, until the token expires or the session ends.", .text())
        answer.type = "text/event-stream"
        return answer
    }()
}

extension HTTPField.Name {
    /// `Last-Event-ID` (WHATWG HTML section 9.2.4).
    fileprivate static let lastEventID = HTTPField.Name("Last-Event-ID")!
}
