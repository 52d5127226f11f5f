import API
import HTTPJSON
import HTTPTypes

/// `DELETE /me/blocked-inviters/{user_id}`: what waits in open groups makes the caller a member now.
enum UnblockInviterRoute {
    static let operation = OpenAPI.Operation(
        .delete,
        "/me/blocked-inviters/{user_id}",
        id: "unblockInviter",
        tag: .groups,
        summary: "Lets a user make the caller a member by number again",
        caller: .user,
        parameters: [.inviterUserID],
        answers: [204: .init("The user is not blocked.")],
        problems: [.notFound, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.UnblockInviterRequest()
            call.inviterUserID = try context.parameters.require("user_id")
            _ = try await methods.groups.unblockInviter(call, options: methods.groupOptions(user))
            return Response(status: .noContent)
        }
    }
}
