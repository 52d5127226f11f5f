import API
import HTTPJSON
import RPC
import ServiceKit

extension AppMethods {
    /// Creates a group with the user, under their display name, as the first member; with an idempotency key once, however
    /// often it is asked.
    func createGroup(
        _ request: AppV1.CreateGroupRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.CreateGroupResponse {
        let owner = user.caller.callOptions().proving(user.proofs.profile)
        let profile = try await profile.getProfile(.init(), options: owner).profile
        var options = groupOptions(user)
        options.metadata.addBinary(CallerName.metadataName, Array(profile.displayName.utf8))
        do throws(RPCError) {
            return try await groups.createGroup(request, options: options)
        } catch {
            // Asking again without a key would create another group.
            throw request.idempotencyKey.isEmpty ? Problem.unlessRepeatable(error) : error
        }
    }
}
