import API
import HTTPJSON
import RPC

extension AppMethods {
    /// Creates a group with the user, under their display name, as the first member; with an idempotency key once, however
    /// often it is asked.
    func createGroup(
        _ request: AppV1.CreateGroupRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.CreateGroupResponse {
        var who = ProfileV1.GetProfileRequest()
        who.userID = user.id
        let profile = try await profile.getProfile(who, options: user.caller.callOptions()).profile
        var call = InvitesV1.CreateGroupRequest()
        call.userID = user.id
        call.name = request.name
        call.ownerDisplayName = profile.displayName
        call.idempotencyKey = request.idempotencyKey
        do throws(RPCError) {
            let group = try await invites.createGroup(call, options: user.caller.callOptions()).group
            var response = AppV1.CreateGroupResponse()
            response.group = AppV1.Group(group)
            return response
        } catch {
            // Asking again without a key would create another group.
            throw request.idempotencyKey.isEmpty ? Problem.unlessRepeatable(error) : error
        }
    }
}
