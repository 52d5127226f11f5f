import API
import RPC

extension AppMethods {
    /// Opens a session by a passkey.
    func signInWithPasskey(
        _ request: AppV1.SignInWithPasskeyRequest,
        _ caller: Caller
    ) async throws -> AppV1.SignInWithPasskeyResponse {
        var call = IdentityV1.SignInWithPasskeyRequest()
        call.credential = request.credential
        call.deviceName = request.deviceName
        let key = try authentication.provenKey(caller)
        let options = authentication.callOptionsWithAddress(caller).naming(key)
        let signIn = try await identity.signInWithPasskey(call, options: options)
        let missing = await missingFields(signIn.callerProofs, caller)
        var response = AppV1.SignInWithPasskeyResponse()
        response.tokens = AppV1.SessionTokens(signIn.tokens)
        response.missingFields = missing ?? []
        response.missingFieldsUnknown = missing == nil
        return response
    }
}
