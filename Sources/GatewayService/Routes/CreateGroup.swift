import API
import HTTPJSON
import Hummingbird
import RPC

/// `POST /groups`: creates a group with the user, under their display name, as the first member; with an
/// `Idempotency-Key` once, however often it is asked.
enum CreateGroup {
    static func route(
        _ authentication: Authentication,
        _ profile: ProfileServiceClient,
        _ invites: InvitesServiceClient
    ) -> Route {
        Route(.post, "/groups") { request, context in
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
