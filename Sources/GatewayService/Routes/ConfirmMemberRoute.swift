import API
import HTTPJSON
import HTTPTypes

/// `POST /groups/{id}/members/{member_id}/confirm`: makes a pending or asking person a member, or keeps a member in doubt or with an
/// unproven number.
enum ConfirmMemberRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/groups/{id}/members/{member_id}/confirm",
        id: "confirmMember",
        tag: .groups,
        summary: "Says that a user is the person meant",
        description: """
            409 with PERSON_CHANGED if it is somebody else by now than the user who was shown; 400 with NOTHING_TO_CONFIRM where nobody
            confirms people; 403 with MEMBER_UNCONFIRMED for a member who is in the group by an unproven number alone.
            """,
        caller: .user,
        parameters: [.groupID, .memberID],
        body: .required(.confirmedMember),
        answers: [200: .member],
        problems: [.forbidden, .notFound, .conflict, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.ConfirmMemberRequest()
            call.groupID = try context.parameters.require("id")
            call.memberID = try context.parameters.require("member_id")
            var input = try await context.json(request)
            call.confirmedUserID = input.string("user_id")
            try input.finish()
            let member = try await methods.groups.confirmMember(call, options: methods.groupOptions(user)).member
            return .json(addMembers: member.write(to:))
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let confirmedMember = object([
        .required("user_id", .text("The user who was shown.", format: .uuid))
    ]).named("ConfirmedMember")
}
