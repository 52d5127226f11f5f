import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /groups/{id}/pending`: a page of whom a group waits for and who is in doubt, oldest first.
enum ListPendingRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/groups/{id}/pending",
        id: "listPending",
        tag: .groups,
        summary: "A page of whom a group waits for and who is in doubt, oldest first",
        caller: .user,
        parameters: [.groupID, .pageSize, .pageToken],
        answers: [200: .pending],
        problems: [.forbidden, .notFound, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: false)
            var call = AppV1.ListPendingRequest()
            call.groupID = try context.parameters.require("id")
            (call.pageSize, call.pageToken) = try request.page()
            let page = try await methods.groups.listPending(call, options: methods.groupOptions(user))
            return .json { json in
                json.add("people", page.people) { $0.write(to: &$1) }
                json.add("next_page_token", orNull: page.nextPageToken)
            }
        }
    }
}

extension OpenAPI.Answer {
    fileprivate static let pending = shared(
        "A page of people.",
        .object([
            .required("people", .list(of: .pendingPerson, maxItems: 100)),
            .required("next_page_token", .nextPageToken),
        ]).named("Pending")
    )
}
