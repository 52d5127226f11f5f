import API
import IdentityDomain
import RPC

extension SignInLack {
    /// The error of an act that needs a better sign-in. It says what would be enough, by the words of RFC 9470 section 3.
    ///
    /// - Parameter maxAgeSeconds: the greatest age of the sign-in; 0 for any.
    func rpcError(maxAgeSeconds: Int64) -> RPCError {
        var facts = [ErrorFact.acrValues: AccountAct.acceptedContexts.map(\.rawValue).joined(separator: " ")]
        if maxAgeSeconds > 0 { facts[ErrorFact.maxAge] = String(maxAgeSeconds) }
        return .domain(.permissionDenied, reason: reason, message: message, metadata: facts)
    }

    private var reason: String {
        switch self {
        case .tooOld: "RECENT_SIGN_IN_REQUIRED"
        case .unproven: "PROOF_REQUIRED"
        }
    }

    /// For people.
    var message: String {
        switch self {
        case .tooOld: "This needs a sign-in of the last minutes. Sign in again, then do it."
        case .unproven:
            "This needs a sign-in that is proven by a nonce, an authorization code or a passkey. "
                + "See the page \"Acts that need a proven sign-in\" (ActsThatNeedProof)."
        }
    }
}
