import Certificates

/// Why a configuration of App Attest was rejected.
public enum AppAttestConfigurationError: Error, Sendable, Hashable {
    /// The team's identifier is not ten upper-case letters and digits.
    case invalidTeamID
    /// The bundle identifier is empty, too long, or has something else than letters, digits, hyphens and dots.
    case invalidBundleID
    /// No environment is accepted.
    case noEnvironment
}

/// Why an attestation or an assertion of an app was rejected. No case has a value out of it, so a log may hold them all.
public enum AppAttestError: Error, Sendable, Hashable {
    /// A part doesn't have its form.
    case malformed(Part)
    /// A part is longer than its bound.
    case tooLarge(Part)
    /// The attestation is of another format than `apple-appattest`.
    case wrongFormat
    /// The certificates don't lead to a root.
    case untrusted(ChainError)
    /// The certificate has no nonce, or another one: the attestation was made for another challenge or is changed.
    case wrongNonce
    /// The certificate's key is no point on P-256.
    case badKey
    /// The key has another identifier than the caller names, in the certificate or in the authenticator data, or is another one there.
    case wrongKeyID
    /// The attestation or assertion is of another app.
    case wrongApp
    /// The key of an attestation was used before: its counter is not 0.
    case counterNotZero
    /// The key was made in an environment that is not accepted.
    case wrongEnvironment
    /// The signature is not the key's over this authenticator data and this client data.
    case badSignature
    /// The counter is not above the stored one: the assertion was seen before, or a later one was.
    case counterNotHigher

    /// A part of an attestation or assertion.
    public enum Part: Sendable, Hashable, CaseIterable {
        /// The attestation object around the other parts.
        case attestation
        /// The assertion around the other parts.
        case assertion
        /// A certificate.
        case certificate
        /// The authenticator data.
        case authenticatorData
        /// The identifier of the key, as the caller names it.
        case keyID
        /// The public key that the caller stored.
        case publicKey
    }
}
