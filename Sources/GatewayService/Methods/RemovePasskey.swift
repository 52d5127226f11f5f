import API
import RPC

extension AppMethods {
    /// Removes one of the user's passkeys. When it returns, this gateway asks about the user's sessions, of which some have ended.
    func removePasskey(
        _ request: AppV1.RemovePasskeyRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.RemovePasskeyResponse {
        var call = IdentityV1.RemovePasskeyRequest()
        call.accessToken = user.token.text
        call.passkeyID = request.passkeyID
        let removed = try await identity.removePasskey(call, options: user.identityOptions)
        watches.changes.note(sessions: [removed.endedSessionID], users: [user.userID])
        return AppV1.RemovePasskeyResponse()
    }
}
