import API
import HTTPJSON
import HTTPTypes

/// `DELETE /groups/{id}`: deletes a group with everybody in it.
enum DeleteGroupRoute {
    static let operation = OpenAPI.Operation(
        .delete,
        "/groups/{id}",
        id: "deleteGroup",
        tag: .groups,
        summary: "Deletes a group with everybody in it",
        description: """
            The owner alone may: 403 with ROLE_INSUFFICIENT. Nobody is a member after it, so asking again is 403 with NOT_A_MEMBER.
            """,
        caller: .user,
        parameters: [.groupID],
        answers: [204: .init("The group is gone.")],
        problems: [.forbidden, .notFound]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.DeleteGroupRequest()
            call.groupID = try context.parameters.require("id")
            _ = try await methods.groups.deleteGroup(call, options: methods.groupOptions(user))
            return Response(status: .noContent)
        }
    }
}
