import API
import HTTPJSON
import HTTPTypes
import RPC

/// `POST /groups/{id}/links`: makes a link by which people join.
enum CreateGroupLinkRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/groups/{id}/links",
        id: "createGroupLink",
        tag: .groups,
        summary: "Makes a link by which people join",
        description: """
            Admins and the owner may. The token is told in this answer and never again. OUTCOME_UNKNOWN (500 or 504) says that a link
            may have been made.
            """,
        caller: .user,
        parameters: [.groupID],
        body: .required(.newGroupLink),
        answers: [201: .madeGroupLink],
        problems: [.forbidden, .notFound, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.CreateGroupLinkRequest()
            call.groupID = try context.parameters.require("id")
            var input = try await context.json(request)
            let seconds = input.optionalInteger("lifetime_seconds", in: 60...7_776_000)
            let uses = input.optionalInteger("uses_max", in: 1...1_000)
            try input.finish()
            (call.lifetimeSeconds, call.usesMax) = (Int32(seconds ?? 0), Int32(uses ?? 0))
            let made: AppV1.CreateGroupLinkResponse
            do throws(RPCError) {
                made = try await methods.groups.createGroupLink(call, options: methods.groupOptions(user))
            } catch {
                // Asking again would make another link.
                throw Problem.unlessRepeatable(error)
            }
            return .json(status: .created) { made.link.write(to: &$0, token: made.token) }
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let newGroupLink = object([
        .optional(
            "lifetime_seconds",
            .integer("For how long it is good.", minimum: 60, maximum: 7_776_000, default: 604_800, orNull: true)
        ),
        .optional(
            "uses_max",
            .integer("How many users may join by it; null for any number.", minimum: 1, maximum: 1_000, orNull: true)
        ),
    ]).named("NewGroupLink")
}

extension OpenAPI.Answer {
    fileprivate static let madeGroupLink = shared("The link.", .madeGroupLink)
}
