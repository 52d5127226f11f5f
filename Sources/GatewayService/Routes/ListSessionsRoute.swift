import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /auth/sessions`: the user's live sessions, the one used last first.
enum ListSessionsRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/auth/sessions",
        id: "listSessions",
        tag: .auth,
        summary: "The user's live sessions, the one used last first",
        caller: .user,
        answers: [200: .sessions]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: false)
            let listed = try await methods.listSessions(.init(), user)
            return .json { json in
                json.add("sessions", listed.sessions) { $0.write(to: &$1) }
                json.add("deletes_at", listed.hasDeletesAt ? listed.deletesAt : nil)
                json.add("recent_changes", listed.recentChanges) { $0.write(to: &$1) }
            }
        }
    }
}

extension OpenAPI.Answer {
    fileprivate static let sessions = shared(
        "The user's sessions, when their account will be deleted, and what was changed about the ways into it in the last thirty days, "
            + "the newest first.",
        .object([
            .required("sessions", .list(of: .listedSession, maxItems: 200)),
            .required(
                "deletes_at",
                .text("When the user's account will be deleted, if that is scheduled.", format: .dateTime, orNull: true)
            ),
            .required("recent_changes", .list(of: .accountChange, maxItems: 50)),
        ]).named("Sessions")
    )
}
