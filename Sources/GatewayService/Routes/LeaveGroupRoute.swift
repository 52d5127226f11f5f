import API
import HTTPJSON
import HTTPTypes

/// `POST /groups/{id}/leave`: takes the user out of a group; the last member takes the group with them.
enum LeaveGroupRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/groups/{id}/leave",
        id: "leaveGroup",
        tag: .groups,
        summary: "Leaves a group",
        description: """
            409 with OWNER_MUST_HAND_OVER for an owner who made the group, while others are members. Whoever is in the group no more has
            left it.
            """,
        caller: .user,
        parameters: [.groupID],
        answers: [204: .init("The user is not in the group.")],
        problems: [.notFound, .conflict]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.LeaveGroupRequest()
            call.groupID = try context.parameters.require("id")
            _ = try await methods.groups.leaveGroup(call, options: methods.groupOptions(user))
            return Response(status: .noContent)
        }
    }
}
