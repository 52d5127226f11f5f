import API
import HTTPJSON
import HTTPTypes

/// `POST /groups/{id}/owner`: makes another member the owner; who was it stays as an admin.
enum HandOverGroupRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/groups/{id}/owner",
        id: "handOverGroup",
        tag: .groups,
        summary: "Makes another member the owner",
        description: """
            The owner alone may: 403 with ROLE_INSUFFICIENT. 404 with MEMBER_NOT_FOUND for one who isn't a member;
            409 with MEMBER_NOT_CONFIRMED for one who is it by the number alone and no admin.
            """,
        caller: .user,
        parameters: [.groupID],
        body: .required(.newOwner),
        answers: [200: .group],
        problems: [.forbidden, .notFound, .conflict, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.HandOverGroupRequest()
            call.groupID = try context.parameters.require("id")
            var input = try await context.json(request)
            call.memberID = input.string("member_id")
            try input.finish()
            let group = try await methods.groups.handOverGroup(call, options: methods.groupOptions(user)).group
            return .json(addMembers: group.write(to:))
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let newOwner = object([.required("member_id", .uuid)]).named("NewOwner")
}
