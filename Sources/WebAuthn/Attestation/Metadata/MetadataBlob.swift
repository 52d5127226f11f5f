import Certificates
import JOSE

/// The models of authenticators that are trusted: a BLOB of the FIDO Metadata Service (Metadata Service 3, section 3.1.7), of a file that
/// the operator downloads, and models that the operator adds. Immutable but for ``add(_:aaguid:)``.
public struct MetadataBlob: Sendable {
    /// The maximum length of the file in bytes. FIDO's has some 8 MiB, most of it icons.
    public static let bytesMax = 24 * 1024 * 1024
    /// The maximum of entries.
    public static let entriesMax = 10_000
    /// The common name of the certificate that signs FIDO's file: a certificate of the same root may be anyone's.
    public static let fidoSigner = "mds.fidoalliance.org"

    /// The number of the file (`no`), which rises: a caller should not go back to a lower one. 0 if there was no file.
    public let number: Int64
    /// The day on which a newer file is due, in seconds since 1970 at its start in UTC (`nextUpdate`). 0 if there was no file.
    public let nextUpdateSeconds: Int
    /// How many entries and certificates could not be read, whose models are then unknown or not trusted.
    public let unusableCount: Int

    private var byModel: [[UInt8]: AuthenticatorModel]
    private let byKey: [[UInt8]: AuthenticatorModel]

    /// Metadata without any model, for ``add(_:aaguid:)``.
    public init() {
        (number, nextUpdateSeconds, unusableCount) = (0, 0, 0)
        (byModel, byKey) = ([:], [:])
    }

    /// Reads a file: a JWS whose header has the certificates of its signer.
    ///
    /// - Parameters:
    ///   - file: the file's bytes, in ASCII.
    ///   - roots: GlobalSign's root R3, which certifies FIDO's signer.
    ///   - signer: the common name of the signer's certificate.
    ///   - now: in seconds since 1970, at which the certificates are valid.
    public init(
        parsing file: [UInt8],
        roots: TrustAnchors,
        signer: String = fidoSigner,
        now: Int
    ) throws(MetadataError) {
        let payload = try SignedMetadata(parsing: file).verifiedPayload(roots: roots, signer: signer, now: now)
        guard let number = payload["no"]?.integer, number > 0, let entries = payload["entries"]?.array,
            let nextUpdate = payload["nextUpdate"]?.string.flatMap(CivilDay.init)
        else { throw .malformed }
        guard entries.count <= Self.entriesMax else { throw .tooLarge }
        self.number = number
        nextUpdateSeconds = nextUpdate.seconds
        var tables = MetadataTables()
        for entry in entries { tables.add(entry) }
        (byModel, byKey, unusableCount) = (tables.byModel, tables.byKey, tables.unusableCount)
    }

    /// How many models are known, trusted or not.
    public var modelCount: Int { byModel.count + Set(byKey.values.map(\.description)).count }

    /// Adds a model, or replaces that of the file.
    ///
    /// - Parameter aaguid: the model, 16 bytes.
    public mutating func add(_ model: AuthenticatorModel, aaguid: [UInt8]) { byModel[aaguid] = model }

    /// The model that the `aaguid` names, or nil.
    public func model(aaguid: [UInt8]) -> AuthenticatorModel? { byModel[aaguid] }

    /// The model of a registration: by its `aaguid`, or for ``AttestationFormat/fidoU2F`` by the keys of the certificates.
    func model(
        of aaguid: [UInt8],
        format: AttestationFormat,
        path: [Certificate]
    ) throws(AttestationError) -> AuthenticatorModel {
        let model =
            format == .fidoU2F
            ? path.lazy.compactMap { byKey[$0.keyIdentifier] }.first
            : byModel[aaguid]
        guard let model else { throw .unknownModel }
        return model
    }
}

/// A model of authenticators.
public struct AuthenticatorModel: Sendable {
    /// The maximum length of a description in bytes; FIDO's have at most 200.
    public static let descriptionBytesMax = 1024

    /// The name, for people.
    public let description: String
    /// Whether no report says that the model is broken or revoked.
    public let isTrusted: Bool
    /// What certifies its authenticators; nil if nothing does.
    public let anchors: TrustAnchors?

    /// A model.
    public init(description: String, isTrusted: Bool, anchors: TrustAnchors?) {
        self.description = description
        self.isTrusted = isTrusted
        self.anchors = anchors
    }
}

/// Why a file of metadata was rejected.
public enum MetadataError: Error, Sendable, Hashable {
    /// The file, or its list of entries, is longer than the bound.
    case tooLarge
    /// The file is no JWS with certificates, or its payload doesn't have its form.
    case malformed
    /// The signature's algorithm is not supported, or not that of the signer's key.
    case unsupportedAlgorithm
    /// The signer's certificates don't lead to a root.
    case untrusted(ChainError)
    /// The certificate is another one's than the signer's.
    case wrongSigner
    /// The signature is not the signer's.
    case badSignature
}
