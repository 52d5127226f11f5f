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
    /// - Parameters:
    ///   - hasCode: whether an authorization code came along.
    ///   - isForAct: whether an ``AccountAct`` stands on it: then a token that is merely fresh proves nothing, whatever its audience
    ///     accepts for a sign-in, and the code that came along must be exchanged.
    /// - Throws: `codeRequired` or `proofRequired`, or the refusal of a nonce that nothing else may stand for.
    public func proofStep(hasCode: Bool, isForAct: Bool = false) throws(IdentityError) -> ProofStep {
        if nonceVerdict == .proven { return .proven(.nonce) }
        switch policy.withoutNonce {
        case .refuse: throw .token(.nonceMissing)
        case .code:
            guard hasCode else { throw .signIn(.codeRequired) }
            return .exchangeCode
        case .fresh:
            guard isForAct else { return .proven(.fresh) }
            guard hasCode else { throw .proofRequired }
            return .exchangeCode
        }
    }

    /// Whether the token is young enough to prove a sign-in by that alone, if it is used for the first time now.
    public func isFresh(nowSeconds: Int64, leewaySeconds: Int64) -> Bool {
        nowSeconds <= issuedAtSeconds + AudiencePolicy.freshSecondsMax + leewaySeconds
    }
}
