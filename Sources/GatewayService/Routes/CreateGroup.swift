import API
import HTTPJSON
import HTTPTypes
import RPC

/// `POST /groups`: creates a group with the user, under their display name, as the first member; with an
/// `Idempotency-Key` once, however often it is asked.
enum CreateGroup {
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

    static func endpoint(
        _ authentication: Authentication,
        _ profile: ProfileServiceClient,
        _ invites: InvitesServiceClient
    ) -> Endpoint {
        Endpoint(operation) { request, context in
            var call = InvitesV1.CreateGroupRequest()
            call.userID = try await authentication.user(request, context)
            let key = try IdempotencyKey.of(request)
            call.idempotencyKey = key ?? ""
            var input = try await context.json(request)
            call.name = input.string("name")
            try input.finish()
            var who = ProfileV1.GetProfileRequest()
            who.userID = call.userID
            call.ownerDisplayName = try await profile.getProfile(who, options: context.callOptions()).profile
                .displayName
            do throws(RPCError) {
                let group = try await invites.createGroup(call, options: context.callOptions()).group
                return .json(group.json, status: .created)
            } catch {
                // Asking again without a key would create another group.
                throw Problem(answering: error, mayBeRepeated: key != nil)
            }
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let newGroup = object([.required("name", .newGroupName)]).named("NewGroup")
}
