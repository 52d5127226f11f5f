import API
import HTTPJSON
import RPC

extension AppMethods {
    /// Makes a link by which people join a group. Its token is told here and never again.
    func createGroupLink(
        _ request: AppV1.CreateGroupLinkRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.CreateGroupLinkResponse {
        var call = InvitesV1.CreateGroupLinkRequest()
        call.groupID = request.groupID
        call.lifetimeSeconds = request.lifetimeSeconds
        call.usesMax = request.usesMax
        do throws(RPCError) {
            let options = user.caller.callOptions().proving(user.proofs.invites)
            let made = try await invites.createGroupLink(call, options: options)
            var response = AppV1.CreateGroupLinkResponse()
            response.link = AppV1.GroupLink(made.link)
            response.token = made.token
            return response
        } catch {
            // Asking again would make another link.
            throw Problem.unlessRepeatable(error)
        }
    }
}
