import API
import RPC

extension AppMethods {
    /// Creates a guest account, and opens its session.
    func signInAsGuest(
        _ request: AppV1.SignInAsGuestRequest,
        _ caller: Caller
    ) async throws -> AppV1.SignInAsGuestResponse {
        var call = IdentityV1.SignInAsGuestRequest()
        call.proofOfWork = request.proofOfWork
        call.deviceName = request.deviceName
        let key = try authentication.provenKey(caller)
        let options = authentication.callOptionsWithAddress(caller).naming(key)
        let signIn = try await identity.signInAsGuest(call, options: options)
        let missing = await missingFields(signIn.callerProofs, caller)
        var response = AppV1.SignInAsGuestResponse()
        response.tokens = AppV1.SessionTokens(signIn.tokens)
        response.missingFields = missing ?? []
        response.missingFieldsUnknown = missing == nil
        return response
    }
}
