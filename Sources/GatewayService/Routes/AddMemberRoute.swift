import API
import HTTPJSON
import HTTPTypes

/// `POST /groups/{id}/members`: adds a person by phone number, a member at once if a user has that number.
///
/// Answers 201 with a new member, and 200 with the one that was in the group already.
enum AddMemberRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/groups/{id}/members",
        id: "addMember",
        tag: .groups,
        summary: "Adds a person by phone number, pending until a user has it",
        description: """
            Adding a number that is in the group already answers 200 with the member there is. 403 with MEMBER_UNCONFIRMED for a member who \
            is in the group by an unproven number alone.
            """,
        caller: .user,
        parameters: [.groupID],
        body: .required(.newMember),
        answers: [200: .member, 201: .member],
        problems: [.forbidden, .notFound, .conflict, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.AddMemberRequest()
            call.groupID = try context.parameters.require("id")
            var input = try await context.json(request)
            call.phoneNumber = input.string("phone_number")
            call.displayName = input.string("display_name")
            try input.finish()
            let answer = try await methods.groups.addMember(call, options: methods.groupOptions(user))
            let status: HTTPResponse.Status = answer.existed ? .ok : .created
            return .json(status: status, addMembers: answer.member.write(to:))
        }
    }
}
