import API
import RPC

extension AppMethods {
    /// Merges a guest account into the user's account, or deletes it.
    func absorbGuest(
        _ request: AppV1.AbsorbGuestRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.AbsorbGuestResponse {
        var call = IdentityV1.AbsorbGuestRequest()
        call.accessToken = user.token.text
        call.guestToken = request.guestToken
        call.guest =
            switch request.guest {
            case .drop: .drop
            case .merge: .merge
            case .unspecified: .unspecified
            case .UNRECOGNIZED(let value): .UNRECOGNIZED(value)
            }
        let absorbed = try await identity.absorbGuest(call, options: user.identityOptions)
        watches.changes.note(users: [absorbed.guestUserID])
        return AppV1.AbsorbGuestResponse()
    }
}
