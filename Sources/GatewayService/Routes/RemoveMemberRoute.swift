import API
import HTTPJSON
import HTTPTypes

/// `DELETE /groups/{id}/members/{member_id}`: puts a member out, or takes back that a person is awaited.
enum RemoveMemberRoute {
    static let operation = OpenAPI.Operation(
        .delete,
        "/groups/{id}/members/{member_id}",
        id: "removeMember",
        tag: .groups,
        summary: "Puts a member out, or takes back that a person is awaited",
        description: """
            403 with ROLE_INSUFFICIENT where the user's role doesn't allow it. One who isn't there is a success.
            """,
        caller: .user,
        parameters: [.groupID, .memberID],
        answers: [204: .init("The person is not in the group.")],
        problems: [.forbidden, .notFound]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.RemoveMemberRequest()
            call.groupID = try context.parameters.require("id")
            call.memberID = try context.parameters.require("member_id")
            _ = try await methods.groups.removeMember(call, options: methods.groupOptions(user))
            return Response(status: .noContent)
        }
    }
}
