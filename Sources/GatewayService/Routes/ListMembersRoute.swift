import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /groups/{id}/members`: a page of a group's members and pending members, oldest first.
enum ListMembersRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/groups/{id}/members",
        id: "listMembers",
        tag: .groups,
        summary: "A page of a group's members and pending members, oldest first",
        caller: .user,
        parameters: [.groupID, .pageSize, .pageToken],
        answers: [200: .members],
        problems: [.forbidden, .notFound, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: false)
            var call = AppV1.ListMembersRequest()
            call.groupID = try context.parameters.require("id")
            (call.pageSize, call.pageToken) = try request.page()
            let page = try await methods.listMembers(call, user)
            return .json { json in
                json.add("members", page.members) { $0.write(to: &$1) }
                json.add("next_page_token", orNull: page.nextPageToken)
            }
        }
    }
}

extension OpenAPI.Answer {
    fileprivate static let members = shared(
        "A page of members.",
        .object([
            .required("members", .list(of: .member, maxItems: 100)),
            .required("next_page_token", .nextPageToken),
        ]).named("Members")
    )
}
