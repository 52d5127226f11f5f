import API
import RPC
import SwiftProtobuf

extension AppMethods {
    /// Returns how many of the user's recovery codes are not used yet.
    func getRecoveryCodes(
        _ request: AppV1.GetRecoveryCodesRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.GetRecoveryCodesResponse {
        var call = IdentityV1.GetRecoveryCodesRequest()
        call.accessToken = user.token.text
        let found = try await identity.getRecoveryCodes(call, options: user.identityOptions)
        var response = AppV1.GetRecoveryCodesResponse()
        response.remaining = found.remaining
        if found.createdAtMs != 0 { response.createdAt = .init(milliseconds: found.createdAtMs) }
        return response
    }
}
