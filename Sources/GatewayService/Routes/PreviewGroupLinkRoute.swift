import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `POST /groups/links/preview`: what a link is of. The token stands in the body, and so in no log of URLs.
enum PreviewGroupLinkRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/groups/links/preview",
        id: "previewGroupLink",
        tag: .groups,
        summary: "What a link is of, before joining",
        description: """
            404 with LINK_INVALID for a token of no link; 400 with LINK_OVER for one that has expired, was revoked or is used up.
            """,
        caller: .user,
        body: .required(.groupLinkToken),
        answers: [200: .groupLinkPreview],
        problems: [.notFound]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.PreviewGroupLinkRequest()
            var input = try await context.json(request)
            call.token = input.string("token")
            try input.finish()
            let preview = try await methods.groups.previewGroupLink(call, options: methods.groupOptions(user))
            return .json { json in
                json.add("group_id", preview.groupID)
                json.add("group_name", preview.groupName)
                json.add("openness", preview.openness.word)
                json.add("member", preview.isMember)
                json.add("expires_at", preview.expiresAt)
            }
        }
    }
}

extension OpenAPI.Answer {
    fileprivate static let groupLinkPreview = shared(
        "What the link is of.",
        .object([
            .required("group_id", .uuid),
            .required("group_name", .text(minLength: 1)),
            .required("openness", .openness),
            .required("member", .boolean("Whether the user is a member already.")),
            .required("expires_at", .moment),
        ]).named("GroupLinkPreview")
    )
}
