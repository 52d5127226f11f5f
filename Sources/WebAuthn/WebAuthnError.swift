/// Why a response of a client was rejected. Each case is one refusal of WebAuthn Level 3, section 7.1 or 7.2, or of the form that
/// comes before them. No case has a value out of the response, so a log may hold them all.
public enum WebAuthnError: Error, Sendable, Hashable {
    /// A part doesn't have its form.
    case malformed(Part)
    /// A part is longer than its bound.
    case tooLarge(Part)
    /// The client data is of the other ceremony: `type` is not `webauthn.create`, or not `webauthn.get`.
    case wrongType
    /// The client data has another challenge, or the expected one is shorter than ``RelyingParty/challengeBytesMin``.
    case wrongChallenge
    /// The client data has an origin that is not among ``RelyingParty/origins``.
    case wrongOrigin
    /// The ceremony ran in a frame of another site: `crossOrigin` is true.
    case crossOrigin
    /// The client data names the site of an outer frame: it has `topOrigin`.
    case topOrigin
    /// The authenticator worked for another relying party.
    case wrongRelyingParty
    /// The authenticator asked for no gesture: UP is not set.
    case userNotPresent
    /// The relying party requires that the user is verified, and UV is not set.
    case userNotVerified
    /// The passkey is backed up, yet may not be: BS is set and BE is not.
    case backupStateImpossible
    /// BE is not what it was at the registration, though it never changes.
    case backupEligibilityChanged
    /// The credential has one id in the response, another in the authenticator data.
    case credentialIDsDiffer
    /// The key's algorithm was not offered.
    case unsupportedAlgorithm
    /// The key contradicts itself, is weak, or is no key of its algorithm.
    case badKey
    /// The signature is not the key's over this authenticator data and this client data.
    case badSignature

    /// The policy asks for a trusted authenticator, and this one is not proven to be.
    case attestation(AttestationError)

    /// A part of a response.
    public enum Part: Sendable, Hashable, CaseIterable {
        /// The JSON text as a whole, or its own members.
        case response
        /// The id of the credential.
        case credentialID
        /// The client data.
        case clientData
        /// The attestation object around the authenticator data.
        case attestationObject
        /// The authenticator data.
        case authenticatorData
        /// The public key.
        case publicKey
        /// The signature.
        case signature
        /// The user handle.
        case userHandle
    }
}
