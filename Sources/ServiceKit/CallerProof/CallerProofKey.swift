import JOSE

/// A key under which identity proves to one service on whose behalf it is called.
///
/// It is HKDF-SHA256 (RFC 5869) of identity's master key, with an empty salt and as `info` the text
/// `vestibule caller proof key 1 ` and the service's name: a thief of one service's key knows nothing of the master or of
/// another service's.
public struct CallerProofKey: Sendable, CustomStringConvertible {
    /// Bytes of a key, and of the master.
    public static let byteCount = 32
    /// The metadata in which a gateway hands a proof on.
    public static let metadataName = "vestibule-caller-proof"

    private static let derivationLabel = "vestibule caller proof key 1 "
    private static let idLabel = "vestibule caller proof key id 1"

    /// The key itself. A secret.
    public let bytes: [UInt8]
    /// Names the key in proofs, and tells nothing of it: four bytes of HKDF-SHA256 of it.
    public let id: [UInt8]
    /// Makes codes under the key.
    public let codes: HMACKey

    /// A key of ``byteCount`` bytes; nil for another count.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(derived: bytes)
    }

    /// The key of a service under a master key of ``byteCount`` bytes; nil for another count.
    public init?(master: [UInt8], service: String) {
        guard master.count == Self.byteCount else { return nil }
        let label = Array((Self.derivationLabel + service).utf8)
        self.init(derived: HKDF.key(from: master, label: label, byteCount: Self.byteCount))
    }

    private init(derived bytes: [UInt8]) {
        self.bytes = bytes
        codes = HMACKey(bytes)
        id = HKDF.key(from: bytes, label: Array(Self.idLabel.utf8), byteCount: 4)
    }

    /// The id in hexadecimal; never the key.
    public var description: String { "CallerProofKey(\(Hex.encode(id)))" }
}
