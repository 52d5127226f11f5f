import API
import IdentityDomain

extension IdentityV1.Proof {
    /// How a session was proven, as callers are told; nil for sessions from before that was kept.
    init(_ proof: Proof?) {
        self =
            switch proof {
            case nil: .unspecified
            case .nonce: .nonce
            case .code: .code
            case .fresh: .fresh
            case .accessToken: .accessToken
            case .unproven: .unproven
            }
    }
}
