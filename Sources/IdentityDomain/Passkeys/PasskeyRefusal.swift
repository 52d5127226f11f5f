import Models

/// Why what has to do with passkeys is refused.
public enum PasskeyRefusal: Error, Sendable, Hashable {
    /// No relying party is configured.
    case notEnabled
    /// The credential is no JSON text of WebAuthn's.
    case malformed
    /// The challenge isn't ours, or was made for something else.
    case challengeUnknown
    /// The challenge is over.
    case challengeExpired
    /// A passkey that is to be added isn't good.
    case rejected
    /// The credential of a sign-in isn't good.
    case invalid
    /// No account has the passkey.
    case unknown
    /// Another account has it.
    case taken
    /// The account has no such passkey.
    case notFound
    /// The account has as many as it may have.
    case tooMany
    /// The name can't be shown.
    case nameInvalid(TextError)
}
