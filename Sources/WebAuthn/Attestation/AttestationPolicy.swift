import Certificates

/// Which authenticators may make passkeys.
public enum AttestationPolicy: Sendable {
    /// Any. No statement is verified.
    case none
    /// Those whose model is proven by a statement (section 6.5), and is trusted. Passkeys that are synced have no statement, and
    /// are rejected.
    case trusted(MetadataBlob)

    /// The member `attestation` of a registration's options (section 5.4.7).
    var conveyance: String {
        switch self {
        case .none: "none"
        case .trusted: "direct"
        }
    }

    /// Verifies the statement as the policy asks; nil if it doesn't.
    func verify(
        _ object: AttestationObject,
        _ claims: AttestationClaims,
        now: Int
    ) throws(AttestationError) -> VerifiedAttestation? {
        guard case .trusted(let metadata) = self else { return nil }
        let (format, path) = try AttestationFormat.verify(object, claims)
        guard !path.isEmpty else { throw .selfAttested }
        let model = try metadata.model(of: claims.credential.aaguid, format: format, path: path)
        guard model.isTrusted else { throw .modelNotTrusted }
        guard let anchors = model.anchors else { throw .unknownModel }
        do { try anchors.verify(path, at: now) } catch { throw .untrusted(error) }
        return VerifiedAttestation(format: format, model: model.description)
    }
}

/// What a statement proved, and the metadata say.
public struct VerifiedAttestation: Sendable, Hashable {
    /// The statement's format.
    public let format: AttestationFormat
    /// The name of the authenticator's model, for people.
    public let model: String
}

/// Why a statement was rejected. No case has a value out of it, so a log may hold them all.
public enum AttestationError: Error, Sendable, Hashable {
    /// There is no statement, or one of a format that is not in ``AttestationFormat``.
    case unsupportedFormat
    /// The statement doesn't have the form of its format.
    case malformed
    /// The certificate doesn't have what the format asks of it, such as the same model as the authenticator data.
    case wrongCertificate
    /// The algorithm is not supported, or not that of the key.
    case unsupportedAlgorithm
    /// The signature is not the certificate's over this registration.
    case badSignature
    /// The statement is about another key.
    case keysDiffer
    /// The statement is about another registration.
    case wrongNonce
    /// The key may be used outside of the hardware, or for something else than signatures.
    case keyNotProtected
    /// The passkey signed its own statement, which proves no model.
    case selfAttested
    /// The metadata don't have the model.
    case unknownModel
    /// The metadata say that the model is broken or revoked.
    case modelNotTrusted
    /// The certificates don't lead to an anchor of the model.
    case untrusted(ChainError)
}
