import API
import IdentityDomain

extension IdentityV1.Proof {
    /// The wire value of how a session was proven; nil for sessions from before this was stored.
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
