import API
import SwiftProtobuf

extension AppMethods {
    /// Deletes the user's account, or schedules its deletion.
    ///
    /// Identity judges the token with the deletion: asked before, it would reject a retry after a lost response.
    func deleteMe(_ request: AppV1.DeleteMeRequest, _ caller: Caller) async throws -> AppV1.DeleteMeResponse {
        var call = IdentityV1.DeleteAccountRequest()
        let token = try authentication.presentedToIdentity(caller)
        call.accessToken = token.text
        if request.hasCredentials { call.credentials = IdentityV1.SignInRequest(request.credentials) }
        let options = authentication.callOptionsWithAddress(caller).naming(token.key)
        let deletion = try await identity.deleteAccount(call, options: options)
        watches.changes.note(users: [deletion.userID])
        var response = AppV1.DeleteMeResponse()
        response.consentsLeft = deletion.consentsLeft
        if deletion.deletesAtMs != 0 { response.deletesAt = .init(milliseconds: deletion.deletesAtMs) }
        return response
    }
}
