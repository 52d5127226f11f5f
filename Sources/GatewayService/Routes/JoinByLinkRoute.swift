import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `POST /groups/links/join`: joins the group of a link, or asks to join it.
enum JoinByLinkRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/groups/links/join",
        id: "joinByLink",
        tag: .groups,
        summary: "Joins the group of a link",
        description: """
            Pending where people are confirmed. 404 with LINK_INVALID; 400 with LINK_OVER, LINK_USED, GROUP_FULL or MEMBER_GROUPS_FULL.
            """,
        caller: .user,
        body: .required(.groupLinkToken),
        answers: [200: .joinedGroup],
        problems: [.notFound]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.JoinByLinkRequest()
            var input = try await context.json(request)
            call.token = input.string("token")
            try input.finish()
            let joined = try await methods.groups.joinByLink(call, options: methods.groupOptions(user))
            return .json { json in
                json.add("group_id", joined.groupID)
                json.add("group_name", joined.groupName)
                json.add("member_id", joined.memberID)
                json.add("state", joined.state == .member ? "member" : "pending")
            }
        }
    }
}

extension OpenAPI.Answer {
    fileprivate static let joinedGroup = shared(
        "Where the user is now.",
        .object([
            .required("group_id", .uuid),
            .required("group_name", .text(minLength: 1)),
            .required("member_id", .uuid),
            .required("state", .oneOf(["member", "pending"])),
        ]).named("JoinedGroup")
    )
}
