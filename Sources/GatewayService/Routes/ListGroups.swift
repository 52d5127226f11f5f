import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /groups`: a page of the user's groups, newest first.
enum ListGroups {
    static let operation = OpenAPI.Operation(
        .get,
        "/groups",
        id: "listGroups",
        tag: .groups,
        summary: "A page of the user's groups, newest first",
        caller: .user,
        parameters: [.pageSize, .pageToken(component: "groupsPageToken", list: 1)],
        answers: [200: .groups],
        problems: [.fieldsAtFault]
    )

    static func endpoint(_ authentication: Authentication, _ invites: InvitesServiceClient) -> Endpoint {
        Endpoint(operation) { request, context in
            var call = InvitesV1.ListGroupsRequest()
            call.userID = try await authentication.user(request, context)
            (call.pageSize, call.pageToken) = try request.page()
            let page = try await invites.listGroups(call, options: context.callOptions())
            return .json([
                "groups": .array(page.groups.map { .object($0.json) }),
                "next_page_token": .orNull(page.nextPageToken),
            ])
        }
    }
}

extension OpenAPI.Answer {
    fileprivate static let groups = shared(
        "A page of groups.",
        .object([
            .required("groups", .list(of: .group, maxItems: 100)),
            .required("next_page_token", .nextPageToken),
        ]).named("Groups")
    )
}
