import Bytes

/// Authenticator data (section 6.1): 37 bytes, then a credential's data if the flag AT is set, then extensions if ED is, and nothing
/// more.
struct AuthenticatorData: Sendable {
    /// The flags. The two that are reserved for future use are ignored.
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8

        /// UP: the user made a gesture.
        static let userPresent = Flags(rawValue: 0x01)
        /// UV: the authenticator verified the user.
        static let userVerified = Flags(rawValue: 0x04)
        /// BE: the credential may be backed up.
        static let backupEligible = Flags(rawValue: 0x08)
        /// BS: it is backed up.
        static let backedUp = Flags(rawValue: 0x10)
        /// AT: a credential's data follows.
        static let attestedCredential = Flags(rawValue: 0x40)
        /// ED: extensions follow.
        static let extensions = Flags(rawValue: 0x80)
    }

    /// Attested credential data (section 6.5.1).
    struct Credential: Sendable {
        /// The model of the authenticator, 16 bytes.
        let aaguid: [UInt8]
        /// The id, 1 to 1023 bytes.
        let id: [UInt8]
        /// The public key as it was written, a CBOR map of at most ``COSEKey/bytesMax`` bytes.
        let publicKey: [UInt8]
    }

    /// The SHA-256 of the RP ID.
    let relyingPartyIDHash: ArraySlice<UInt8>
    /// The flags.
    let flags: Flags
    /// The counter of signatures.
    let signCount: UInt32
    /// The credential, if the flag AT is set.
    let credential: Credential?

    /// Reads the data that all of `bytes` are.
    init(parsing bytes: ArraySlice<UInt8>) throws(WebAuthnError) {
        var reader = ByteReader(bytes, truncated: WebAuthnError.malformed(.authenticatorData))
        relyingPartyIDHash = try reader.take(32)
        flags = Flags(rawValue: try reader.byte())
        signCount = try reader.integer()
        credential = flags.contains(.attestedCredential) ? try Self.credential(&reader) : nil
        if flags.contains(.extensions) {
            // What they say was not asked for; only their form is checked.
            guard try Self.map(&reader).map.hasOnlyTextKeys else { throw .malformed(.authenticatorData) }
        }
        guard reader.isAtEnd else { throw .malformed(.authenticatorData) }
    }

    private static func credential(
        _ reader: inout ByteReader<WebAuthnError>
    ) throws(WebAuthnError) -> Credential {
        let aaguid = try reader.take(16)
        let idByteCount = Int(try reader.integer(UInt16.self))
        guard idByteCount > 0 else { throw .malformed(.credentialID) }
        guard idByteCount <= CredentialJSON.idBytesMax else { throw .tooLarge(.credentialID) }
        let id = try reader.take(idByteCount)
        let publicKey = try map(&reader).bytes
        guard publicKey.count <= COSEKey.bytesMax else { throw .tooLarge(.publicKey) }
        return Credential(aaguid: Array(aaguid), id: Array(id), publicKey: Array(publicKey))
    }

    /// The CBOR map that comes next, and its bytes.
    private static func map(
        _ reader: inout ByteReader<WebAuthnError>
    ) throws(WebAuthnError) -> (map: CBORMap, bytes: ArraySlice<UInt8>) {
        var items = CBORReader(reader.bytes[reader.position...])
        guard let map = try? items.value().map else { throw .malformed(.authenticatorData) }
        return (map, try reader.take(items.position - reader.position))
    }
}
