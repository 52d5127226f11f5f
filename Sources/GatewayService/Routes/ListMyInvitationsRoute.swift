import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /invitations`: a page of what waits for the user, newest first.
enum ListMyInvitationsRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/invitations",
        id: "listMyInvitations",
        tag: .groups,
        summary: "A page of what waits for the user, newest first",
        description: """
            Groups in which people accept or are confirmed and which wait for a number of the user's, and the user's own requests
            to join. Nothing is told of a group's members.
            """,
        caller: .user,
        parameters: [.pageSize, .pageToken],
        answers: [200: .invitations],
        problems: [.fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: false)
            var call = AppV1.ListMyInvitationsRequest()
            (call.pageSize, call.pageToken) = try request.page()
            let page = try await methods.groups.listMyInvitations(call, options: methods.groupOptions(user))
            return .json { json in
                json.add("invitations", page.invitations) { $0.write(to: &$1) }
                json.add("next_page_token", orNull: page.nextPageToken)
            }
        }
    }
}

extension OpenAPI.Answer {
    fileprivate static let invitations = shared(
        "A page of invitations.",
        .object([
            .required("invitations", .list(of: .invitation, maxItems: 100)),
            .required("next_page_token", .nextPageToken),
        ]).named("Invitations")
    )
}
