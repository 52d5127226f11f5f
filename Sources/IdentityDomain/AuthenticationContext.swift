/// How strongly a sign-in was proven, as `acr` says it of a token (OpenID Connect Core section 2, RFC 9068 section 2.2.1, RFC 9470
/// section 6).
public enum AuthenticationContext: String, Sendable, Hashable, CaseIterable {
    /// Nobody has signed in: the account is a guest's.
    case guest = "urn:vestibule:acr:guest"
    /// The user signed in, but what proved it may have been somebody else's: no nonce, no code.
    case unproven = "urn:vestibule:acr:unproven"
    /// The user signed in at a provider, proven by a nonce or a code.
    case provider = "urn:vestibule:acr:provider"
    /// The user signed in by a passkey.
    case passkey = "urn:vestibule:acr:passkey"

    /// That of sessions with this proof.
    public init(_ proof: Proof) {
        self =
            switch proof {
            case .nonce, .code: .provider
            case .passkey: .passkey
            case .fresh, .accessToken, .unproven: .unproven
            case .guest: .guest
            }
    }

    /// Whether a sign-in of this context is enough where another one is asked for: a passkey is stronger than a provider's word.
    public func satisfies(_ wanted: AuthenticationContext) -> Bool {
        self == wanted || self == .passkey && wanted == .provider
    }
}
