import API
import RPC

extension AppMethods {
    /// Adds a passkey to the account that a recovery code is of.
    func recoverAccount(
        _ request: AppV1.RecoverAccountRequest,
        _ caller: Caller
    ) async throws -> AppV1.RecoverAccountResponse {
        var call = IdentityV1.RecoverAccountRequest()
        call.code = request.code
        call.credential = request.credential
        call.name = request.name
        // Identity limits wrong codes by address, over all replicas.
        let options = authentication.callOptionsWithAddress(caller)
        var response = AppV1.RecoverAccountResponse()
        response.passkey = AppV1.Passkey(try await identity.recoverAccount(call, options: options).passkey)
        return response
    }
}
