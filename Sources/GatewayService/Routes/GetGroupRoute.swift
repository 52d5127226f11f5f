import API
import HTTPJSON
import HTTPTypes

/// `GET /groups/{id}`: a group, for its members.
enum GetGroupRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/groups/{id}",
        id: "getGroup",
        tag: .groups,
        summary: "A group",
        caller: .user,
        parameters: [.groupID],
        answers: [200: .group],
        problems: [.forbidden, .notFound]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: false)
            var call = AppV1.GetGroupRequest()
            call.groupID = try context.parameters.require("id")
            let group = try await methods.groups.getGroup(call, options: methods.groupOptions(user)).group
            return .json(addMembers: group.write(to:))
        }
    }
}
