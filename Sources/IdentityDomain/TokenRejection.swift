/// Why a provider's ID token was refused: one case for each reason on the wire.
public enum TokenRejection: Error, Sendable, Hashable, CaseIterable {
    /// No JWS, no claims, or claims of wrong types; a header that we do not accept.
    case malformed
    /// Signed with an algorithm that the provider may not use.
    case algorithm
    /// Not signed at all.
    case unsigned
    /// The provider has no key of the token's `kid`.
    case keyUnknown
    /// The signature does not verify.
    case signature
    /// `iss` is not the provider's.
    case issuer
    /// `aud` names others than our apps.
    case audience
    /// Past `exp`, or issued longer ago than we accept.
    case expired
    /// Before `nbf`, or issued in the future.
    case notYetValid
    /// The nonce is missing in the token, in the request, or in both where one is required.
    case nonceMissing
    /// The token has another nonce than the request.
    case nonceMismatch
    /// `c_hash` does not match the authorization code.
    case codeHash
    /// The token bought a session before.
    case replayed
    /// `sub` is missing, empty or too long.
    case subject
}
