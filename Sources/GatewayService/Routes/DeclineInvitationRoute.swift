import API
import HTTPJSON
import HTTPTypes

/// `POST /groups/{id}/members/{member_id}/decline`: declines an invitation, or takes a request to join back.
enum DeclineInvitationRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/groups/{id}/members/{member_id}/decline",
        id: "declineInvitation",
        tag: .groups,
        summary: "Declines an invitation, or takes a request to join back",
        description: """
            The group doesn't learn of it. 404 with INVITATION_NOT_FOUND where nothing waits for the user by this id.
            """,
        caller: .user,
        parameters: [.groupID, .memberID],
        answers: [204: .init("The user does not see it again.")],
        problems: [.notFound]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.DeclineInvitationRequest()
            call.groupID = try context.parameters.require("id")
            call.memberID = try context.parameters.require("member_id")
            _ = try await methods.groups.declineInvitation(call, options: methods.groupOptions(user))
            return Response(status: .noContent)
        }
    }
}
