import API
import HTTPJSON
import HTTPTypes

/// `PATCH /groups/{id}`: changes the fields that are present. The owner says how open a group is, admins may rename it.
enum UpdateGroupRoute {
    static let operation = OpenAPI.Operation(
        .patch,
        "/groups/{id}",
        id: "updateGroup",
        tag: .groups,
        summary: "Changes the fields of a group that are present",
        description: """
            403 with ROLE_INSUFFICIENT for a plain member, and for an admin who names the openness.
            """,
        caller: .user,
        parameters: [.groupID],
        body: .required(.groupChange),
        answers: [200: .group],
        problems: [.forbidden, .notFound, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.UpdateGroupRequest()
            call.groupID = try context.parameters.require("id")
            var input = try await context.json(request)
            if input.contains("name") { call.name = input.string("name") }
            call.openness = input.openness("openness")
            try input.finish()
            let group = try await methods.groups.updateGroup(call, options: methods.groupOptions(user)).group
            return .json(addMembers: group.write(to:))
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let groupChange = object([
        .optional("name", .newGroupName), .optional("openness", .openness),
    ]).named("GroupChange")
}
