import Certificates
import JOSE

/// The formats of statements that are verified (section 8).
public enum AttestationFormat: String, Sendable, Hashable, CaseIterable {
    /// Of most security keys (section 8.2).
    case packed
    /// Of security keys from before FIDO2 (section 8.6).
    case fidoU2F = "fido-u2f"
    /// Apple's anonymous one (section 8.8).
    case apple
    /// Of keys in Android's keystore (section 8.4).
    case androidKey = "android-key"
    /// Of Windows, with a TPM (section 8.3).
    case tpm

    /// Verifies a statement by the rules of its format, and returns the certificates behind it, or none for a statement that the
    /// passkey signed itself. Whether the certificates are trusted is another question.
    static func verify(
        _ object: AttestationObject,
        _ claims: AttestationClaims
    ) throws(AttestationError) -> (format: AttestationFormat, path: [Certificate]) {
        guard let format = allCases.first(where: { $0.rawValue.utf8.elementsEqual(object.format.utf8) }),
            let statement = object.statement
        else { throw .unsupportedFormat }
        let path: [Certificate] =
            switch format {
            case .packed: try PackedStatement.verify(statement, claims)
            case .fidoU2F: try U2FStatement.verify(statement, claims)
            case .apple: try AppleStatement.verify(statement, claims)
            case .androidKey: try AndroidKeyStatement.verify(statement, claims)
            case .tpm: try TPMStatement.verify(statement, claims)
            }
        return (format, path)
    }
}

/// What a statement must be about.
struct AttestationClaims {
    /// The authenticator data.
    let authenticatorData: [UInt8]
    /// The SHA-256 of the client data.
    let clientDataHash: [UInt8]
    /// The SHA-256 of the RP ID.
    let relyingPartyIDHash: [UInt8]
    /// The credential.
    let credential: AuthenticatorData.Credential
    /// The credential's key.
    let key: COSEKey

    /// What most statements sign.
    var signed: [UInt8] { authenticatorData + clientDataHash }
}

extension CBORMap {
    /// The certificates of the member `x5c`: the one that signed first.
    func certificates() throws(AttestationError) -> [Certificate] {
        guard let elements = self["x5c"]?.array, !elements.isEmpty else { throw .malformed }
        guard elements.count <= TrustAnchors.chainCertificatesMax else { throw .untrusted(.tooLong) }
        var certificates: [Certificate] = []
        for element in elements {
            guard let der = element.bytes, let certificate = try? Certificate(der: Array(der)) else { throw .malformed }
            certificates.append(certificate)
        }
        return certificates
    }

    /// The bytes of a member.
    func attestationBytes(_ name: String) throws(AttestationError) -> [UInt8] {
        guard let bytes = self[name]?.bytes else { throw .malformed }
        return Array(bytes)
    }

    /// The number of a COSE algorithm.
    func algorithm() throws(AttestationError) -> Int64 {
        guard let number = self["alg"]?.integer else { throw .malformed }
        return number
    }
}

extension Certificate {
    /// The extension with the model of an authenticator (section 8.2.1): an OCTET STRING of 16 bytes.
    private static let modelIdentifier = "1.3.6.1.4.1.45724.1.1.4"

    /// The public key, if it is one of a supported kind.
    func verificationKey() throws(AttestationError) -> VerificationKey {
        guard let key = try? VerificationKey(publicKeyInfo: publicKeyInfo) else { throw .wrongCertificate }
        return key
    }

    /// Whether the certificate says no other model than this one.
    func isOfModel(_ aaguid: [UInt8]) -> Bool {
        guard let found = `extension`(Self.modelIdentifier) else { return !has(Self.modelIdentifier) }
        return !found.isCritical && found.value == [0x04, 0x10] + aaguid
    }

    /// Whether the signature is this certificate's of the message, with a COSE algorithm (RFC 9053, RFC 8812). SHA-1 is not supported.
    func verify(_ signature: [UInt8], of message: [UInt8], algorithm: Int64) throws(AttestationError) {
        let key = try verificationKey()
        let (name, type): (SignatureAlgorithm, KeyType)
        switch algorithm {
        case -7: (name, type) = (.es256, .p256)
        case -35: (name, type) = (.es384, .p384)
        case -37: (name, type) = (.ps256, .rsa)
        case -257: (name, type) = (.rs256, .rsa)
        case -258: (name, type) = (.rs384, .rsa)
        case -259: (name, type) = (.rs512, .rsa)
        default: throw .unsupportedAlgorithm
        }
        guard key.type == type else { throw .unsupportedAlgorithm }
        let isValid =
            type == .rsa
            ? key.verifies(signature, of: message, algorithm: name)
            : key.verifies(derSignature: signature, of: message, algorithm: name)
        guard isValid else { throw .badSignature }
    }
}
