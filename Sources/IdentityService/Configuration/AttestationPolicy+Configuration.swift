import Certificates
import FoundationEssentials
import ServiceKit
import WebAuthn

extension AttestationPolicy {
    /// The policy of a configuration: none without a file of metadata.
    ///
    /// - Throws: `ConfigurationErrors` if the file can't be used: no passkey could be registered.
    init(reading configuration: Configuration) throws(ConfigurationErrors) {
        let (metadata, roots) = (IdentityKeys.Passkeys.metadata, IdentityKeys.Passkeys.metadataRoots)
        guard let file = configuration[metadata] else {
            guard configuration[roots] == nil else {
                throw Self.fault(metadata.name, "is required where \(roots.name) is set")
            }
            self = .none
            return
        }
        guard let rootsFile = configuration[roots] else {
            throw Self.fault(roots.name, "is required where \(metadata.name) is set")
        }
        let anchors: TrustAnchors
        do throws(CertificateError) {
            anchors = try TrustAnchors(pem: rootsFile.content.bytes)
        } catch {
            throw Self.fault(roots.name, "holds no root certificates in PEM")
        }
        do throws(MetadataError) {
            let now = Int(Date().timeIntervalSince1970)
            self = .trusted(try MetadataBlob(parsing: file.content.bytes, roots: anchors, now: now))
        } catch {
            throw Self.fault(metadata.name, error.problem)
        }
    }

    private static func fault(_ key: String, _ problem: String) -> ConfigurationErrors {
        ConfigurationErrors([ConfigurationError(key: key, problem: problem)])
    }

    /// In a line, for people.
    var summary: String {
        switch self {
        case .none: "from every authenticator"
        case .trusted(let metadata):
            "from authenticators of \(metadata.modelCount) models (metadata number \(metadata.number))"
        }
    }
}

extension MetadataError {
    /// What is wrong with the file, in words.
    fileprivate var problem: String {
        switch self {
        case .tooLarge: "holds more than can be read"
        case .malformed: "holds no metadata of FIDO's (a JWS with certificates)"
        case .unsupportedAlgorithm: "is signed by an algorithm that is not supported"
        case .untrusted:
            "is signed by a certificate that no root of \(IdentityKeys.Passkeys.metadataRoots.name) certifies now"
        case .wrongSigner: "is not signed by \(MetadataBlob.fidoSigner)"
        case .badSignature: "has a signature that is not its signer's"
        }
    }
}
