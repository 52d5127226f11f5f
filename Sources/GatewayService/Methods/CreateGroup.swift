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
        let owner = user.caller.callOptions().proving(user.proofs.profile)
        let profile = try await profile.getProfile(.init(), options: owner).profile
        var call = InvitesV1.CreateGroupRequest()
        call.name = request.name
        call.ownerDisplayName = profile.displayName
        call.idempotencyKey = request.idempotencyKey
        call.openness = InvitesV1.GroupOpenness(request.openness)
        do throws(RPCError) {
            let options = user.caller.callOptions().proving(user.proofs.invites)
            let group = try await invites.createGroup(call, options: options).group
            var response = AppV1.CreateGroupResponse()
            response.group = AppV1.Group(group)
            return response
        } catch {
            // Asking again without a key would create another group.
            throw request.idempotencyKey.isEmpty ? Problem.unlessRepeatable(error) : error
        }
    }
}
