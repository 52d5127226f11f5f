/// An act for which an access token alone is not enough: the session must have been proven a short time ago by something that a thief of
/// tokens does not have. Most add, remove or end a way into an account.
public enum AccountAct: String, Sendable, Hashable, CaseIterable {
    /// Linking a further provider.
    case linkProvider = "link_provider"
    /// Adding a passkey.
    case addPasskey = "add_passkey"
    /// Making recovery codes, each of which adds a passkey.
    case createRecoveryCodes = "create_recovery_codes"
    /// Unlinking a provider, or removing a passkey.
    case unlinkProvider = "unlink_provider"
    /// Merging two accounts into one.
    case mergeAccounts = "merge_accounts"
    /// Deleting the account at once.
    case deleteAccount = "delete_account"
    /// Exporting all data of the user.
    case exportData = "export_data"
    /// Making another member the owner of a group.
    case handOverGroup = "hand_over_group"

    /// Why an act is refused.
    public enum Refusal: Sendable, Hashable {
        /// The sign-in was proven well enough, but too long ago: signing in again is enough.
        case recentSignInRequired
        /// The sign-in was proven by less than ``acceptedProofs``: the app has to send a nonce or an authorization code.
        case proofRequired
        /// The account is a guest's, and the act is for accounts that a provider opens.
        case guestNotAllowed
    }

    /// The proofs that a thief of one token can't give (RFC 9700 section 4.5 for codes, OpenID Connect Core section 15.5.2 for nonces,
    /// WebAuthn Level 3 section 13.4.3 for challenges).
    public static let acceptedProofs: Set<Proof> = [.nonce, .code, .passkey]

    /// The contexts of those proofs, in the order in which a client should ask for them (RFC 9470 section 3).
    public static let acceptedContexts: [AuthenticationContext] = [.provider, .passkey]

    /// Whether a guest's session performs it. A guest can't sign in anew: who has the session has the account. What gives somebody a second way
    /// into it is not for guests, but for linking, which makes it a full account.
    private var isForGuests: Bool {
        switch self {
        case .linkProvider, .deleteAccount, .exportData, .handOverGroup: true
        case .addPasskey, .createRecoveryCodes, .unlinkProvider, .mergeAccounts: false
        }
    }

    /// Judges an act by the sign-in that it stands on.
    ///
    /// - Parameters:
    ///   - proof: how that sign-in was proven.
    ///   - signedInMilliseconds: when it was, in Unix milliseconds.
    ///   - recentSeconds: the greatest age of a sign-in that is recent; 0 accepts every age.
    /// - Returns: the reason of a refusal; nil if the act is allowed.
    public func refusal(
        proof: Proof,
        signedInMilliseconds: Int64,
        nowMilliseconds: Int64,
        recentSeconds: Int64
    ) -> Refusal? {
        if proof == .guest { return isForGuests ? nil : .guestNotAllowed }
        guard Self.acceptedProofs.contains(proof) else { return .proofRequired }
        guard recentSeconds > 0 else { return nil }
        return .milliseconds(nowMilliseconds) - .milliseconds(signedInMilliseconds) <= .seconds(recentSeconds)
            ? nil : Refusal.recentSignInRequired
    }
}
