import API
import HTTPJSON
import HTTPTypes

/// `POST /groups`: creates a group with the user, under their display name, as the first member; with an
/// `Idempotency-Key` once, however often it is asked.
enum CreateGroupRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/groups",
        id: "createGroup",
        tag: .groups,
        summary: "Creates a group with the user as its first member",
        description: """
            With an Idempotency-Key it may be asked again after any failure: one group is created. A key that came with \
            another name or openness before is refused with 422 and IDEMPOTENCY_KEY_REUSED, one that is no UUID with 400 and \
            IDEMPOTENCY_KEY_INVALID, and one whose group is gone, or whose group the user is in no more, with 403 and \
            NOT_A_MEMBER. Without a key, OUTCOME_UNKNOWN (500 or 504) says that a group may have been created.
            """,
        caller: .user,
        parameters: [.idempotencyKey],
        body: .required(.newGroup),
        answers: [201: .group],
        problems: [.forbidden, .conflict, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.CreateGroupRequest()
            call.idempotencyKey = try IdempotencyKey.of(request) ?? ""
            var input = try await context.json(request)
            call.name = input.string("name")
            call.openness = input.openness("openness")
            try input.finish()
            let group = try await methods.createGroup(call, user).group
            return .json(status: .created, addMembers: group.write(to:))
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let newGroup = object([
        .required("name", .newGroupName), .optional("openness", .openness),
    ]).named("NewGroup")
}
