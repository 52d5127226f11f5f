import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /me/blocked-inviters`: a page of those whom the user blocks.
enum ListBlockedInvitersRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/me/blocked-inviters",
        id: "listBlockedInviters",
        tag: .groups,
        summary: "A page of those whom the user blocks",
        caller: .user,
        parameters: [.pageSize, .pageToken],
        answers: [200: .blockedInviters],
        problems: [.fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: false)
            var call = AppV1.ListBlockedInvitersRequest()
            (call.pageSize, call.pageToken) = try request.page()
            let page = try await methods.groups.listBlockedInviters(call, options: methods.groupOptions(user))
            return .json { json in
                json.add("inviters", page.inviters) { inviter, json in
                    json.add("user_id", inviter.userID)
                    json.add("blocked_at", inviter.blockedAt)
                }
                json.add("next_page_token", orNull: page.nextPageToken)
            }
        }
    }
}

extension OpenAPI.Answer {
    fileprivate static let blockedInviters = shared(
        "A page of users.",
        .object([
            .required(
                "inviters",
                .list(of: .object([.required("user_id", .uuid), .required("blocked_at", .moment)]), maxItems: 100)
            ),
            .required("next_page_token", .nextPageToken),
        ]).named("BlockedInviters")
    )
}
