import API
import HTTPJSON
import HTTPTypes

/// `PUT /me/blocked-inviters/{user_id}`: what this user adds goes on waiting, and they see no difference.
enum BlockInviterRoute {
    static let operation = OpenAPI.Operation(
        .put,
        "/me/blocked-inviters/{user_id}",
        id: "blockInviter",
        tag: .groups,
        summary: "Keeps a user from making the caller a member by number",
        description: """
            Memberships stay. 400 with TOO_MANY_BLOCKED for more than 1,000.
            """,
        caller: .user,
        parameters: [.inviterUserID],
        answers: [204: .init("The user is blocked.")],
        problems: [.notFound, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.BlockInviterRequest()
            call.inviterUserID = try context.parameters.require("user_id")
            _ = try await methods.groups.blockInviter(call, options: methods.groupOptions(user))
            return Response(status: .noContent)
        }
    }
}
