/// What is left to do until a verified ID token proves a sign-in.
public enum ProofStep: Sendable, Hashable {
    /// Nothing: this proves it.
    case proven(Proof)
    /// The code that came along must be exchanged, and name the same person.
    case exchangeCode
}

extension ProviderClaims {
    /// What proves a sign-in by the ID token that says this, as its audience asks.
    ///
    /// - Parameter hasCode: whether an authorization code came along.
    /// - Throws: `codeRequired`, or the refusal of a nonce that nothing else may stand for.
    public func proofStep(hasCode: Bool) throws(IdentityFault) -> ProofStep {
        if nonceVerdict == .proven { return .proven(.nonce) }
        switch policy.withoutNonce {
        case .refuse: throw .token(.nonceMissing)
        case .code:
            guard hasCode else { throw .signIn(.codeRequired) }
            return .exchangeCode
        case .fresh: return .proven(.fresh)
        }
    }

    /// Whether the token is young enough to prove a sign-in by that alone, if it is used for the first time now.
    public func isFresh(nowSeconds: Int64, leewaySeconds: Int64) -> Bool {
        nowSeconds <= issuedAtSeconds + AudiencePolicy.freshSecondsMax + leewaySeconds
    }
}
