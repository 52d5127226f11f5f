import API
import IdentityDomain

extension IdentityV1.Proof {
    /// The wire value of how a session was proven.
    init(_ proof: Proof) {
        self =
            switch proof {
            case .nonce: .nonce
            case .code: .code
            case .fresh: .fresh
            case .accessToken: .accessToken
            case .unproven: .unproven
            case .passkey: .passkey
            case .guest: .guest
            }
    }
}
