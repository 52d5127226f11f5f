import API
import HTTPJSON
import HTTPTypes

/// `POST /groups/{id}/members/{member_id}/accept`: accepts an invitation; a user who is a member already stays one.
enum AcceptInvitationRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/groups/{id}/members/{member_id}/accept",
        id: "acceptInvitation",
        tag: .groups,
        summary: "Accepts an invitation",
        description: """
            404 with INVITATION_NOT_FOUND where nothing waits for the user by this id; 400 with CONFIRMATION_NEEDED where somebody of
            the group decides.
            """,
        caller: .user,
        parameters: [.groupID, .memberID],
        answers: [200: .member],
        problems: [.notFound]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.AcceptInvitationRequest()
            call.groupID = try context.parameters.require("id")
            call.memberID = try context.parameters.require("member_id")
            let member = try await methods.groups.acceptInvitation(call, options: methods.groupOptions(user)).member
            return .json(addMembers: member.write(to:))
        }
    }
}
