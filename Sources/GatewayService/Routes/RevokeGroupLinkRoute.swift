import API
import HTTPJSON
import HTTPTypes

/// `DELETE /groups/{id}/links/{link_id}`: ends a link; members who joined by it stay.
enum RevokeGroupLinkRoute {
    static let operation = OpenAPI.Operation(
        .delete,
        "/groups/{id}/links/{link_id}",
        id: "revokeGroupLink",
        tag: .groups,
        summary: "Ends a link",
        description: """
            Admins and the owner may. One that is over is a success.
            """,
        caller: .user,
        parameters: [.groupID, .groupLinkID],
        answers: [204: .init("Nobody joins by the link any more.")],
        problems: [.forbidden, .notFound]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.RevokeGroupLinkRequest()
            call.groupID = try context.parameters.require("id")
            call.linkID = try context.parameters.require("link_id")
            _ = try await methods.groups.revokeGroupLink(call, options: methods.groupOptions(user))
            return Response(status: .noContent)
        }
    }
}
