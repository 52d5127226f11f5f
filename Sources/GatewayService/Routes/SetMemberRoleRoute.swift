import API
import HTTPJSON
import HTTPTypes

/// `PATCH /groups/{id}/members/{member_id}`: makes a member an admin or a plain member.
enum SetMemberRoleRoute {
    static let operation = OpenAPI.Operation(
        .patch,
        "/groups/{id}/members/{member_id}",
        id: "setMemberRole",
        tag: .groups,
        summary: "Makes a member an admin or a plain member",
        description: """
            The owner alone may, and not of themselves: 403 with ROLE_INSUFFICIENT. 404 with MEMBER_NOT_FOUND for one who isn't a member.
            """,
        caller: .user,
        parameters: [.groupID, .memberID],
        body: .required(.memberChange),
        answers: [200: .member],
        problems: [.forbidden, .notFound, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.SetMemberRoleRequest()
            call.groupID = try context.parameters.require("id")
            call.memberID = try context.parameters.require("member_id")
            var input = try await context.json(request)
            switch input.string("role") {
            case "admin": call.role = .admin
            case "member": call.role = .member
            case "": break  // noted by the input
            default: input.addError("role", code: "ROLE_INVALID", detail: "The role must be admin or member.")
            }
            try input.finish()
            let member = try await methods.groups.setMemberRole(call, options: methods.groupOptions(user)).member
            return .json(addMembers: member.write(to:))
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let memberChange = object([.required("role", .oneOf(["admin", "member"]))]).named("MemberChange")
}
