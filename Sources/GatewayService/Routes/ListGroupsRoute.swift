import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /groups`: a page of the user's groups, newest first.
enum ListGroupsRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/groups",
        id: "listGroups",
        tag: .groups,
        summary: "A page of the user's groups, newest first",
        caller: .user,
        parameters: [.pageSize, .pageToken],
        answers: [200: .groups],
        problems: [.fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: false)
            var call = AppV1.ListGroupsRequest()
            (call.pageSize, call.pageToken) = try request.page()
            let page = try await methods.groups.listGroups(call, options: methods.groupOptions(user))
            return .json { json in
                json.add("groups", page.groups) { $0.write(to: &$1) }
                json.add("next_page_token", orNull: page.nextPageToken)
            }
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
