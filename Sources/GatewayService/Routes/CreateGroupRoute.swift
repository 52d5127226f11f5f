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
            another name before is refused with 422 and IDEMPOTENCY_KEY_REUSED, one that is no UUID with 400 and \
            IDEMPOTENCY_KEY_INVALID. Without a key, OUTCOME_UNKNOWN (500 or 504) says that a group may have been created.
            """,
        caller: .user,
        parameters: [.idempotencyKey],
        body: .required(.newGroup),
        answers: [201: .group],
        problems: [.conflict, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.CreateGroupRequest()
            call.idempotencyKey = try IdempotencyKey.of(request) ?? ""
            var input = try await context.json(request)
            call.name = input.string("name")
            try input.finish()
            return .json(try await methods.createGroup(call, user).group.json, status: .created)
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let newGroup = object([.required("name", .newGroupName)]).named("NewGroup")
}
