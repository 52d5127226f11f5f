/// Why a compact JWE was rejected.
public enum JWEError: Error, Sendable, Hashable {
    /// Longer than the limit.
    case tooLarge
    /// Not five base64url parts with a JSON object as header, a duplicate header member, members of wrong types, or a part of an
    /// impossible length.
    case malformed
    /// `alg` is not `A256KW`, `enc` is not `A256GCM`, or the text is compressed (`zip`).
    case unsupportedAlgorithm
    /// `crit` names extensions, of which none is supported (RFC 7516 section 4.1.13).
    case criticalExtension
    /// The key is another one, or the text is changed.
    case notDecrypted
}

/// A JSON Web Encryption in compact form (RFC 7516 section 7.1), of the one pair of algorithms that integrity tokens of Google Play have:
/// the content's key is wrapped by AES-256 (`A256KW`, RFC 7518 section 4.4), the content sealed by AES-256-GCM (`A256GCM`, section 5.3).
public struct CompactJWE: Sendable {
    /// The maximum length of a text in bytes, unless the caller sets another.
    public static let defaultBytesMax = 32 * 1024
    /// Bytes in the key that unwraps the content's.
    public static let keyByteCount = AESKeyWrap.keyByteCount

    private static let contentKeyByteCount = 32

    private let header: [UInt8]
    private let wrappedKey: [UInt8]
    /// The nonce, the encrypted content, and the tag.
    private let sealed: [UInt8]

    /// Parses a text without decrypting it.
    public init(parsing text: String, bytesMax: Int = defaultBytesMax) throws(JWEError) {
        guard text.utf8.count <= bytesMax else { throw .tooLarge }
        let parts = Array(text.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 5, let headerBytes = Base64URL.decode(utf8: parts[0]),
            let header = try? JSONObject(parsing: headerBytes, limits: JSONLimits(bytesMax: 4096, depthMax: 4)),
            let wrappedKey = Base64URL.decode(utf8: parts[1]), let nonce = Base64URL.decode(utf8: parts[2]),
            let content = Base64URL.decode(utf8: parts[3]), let tag = Base64URL.decode(utf8: parts[4]),
            let algorithm = header["alg"]?.string, let encryption = header["enc"]?.string
        else { throw .malformed }
        // Compared by bytes: `String`'s own comparison takes a Kelvin sign for a K.
        guard algorithm.utf8.elementsEqual("A256KW".utf8), encryption.utf8.elementsEqual("A256GCM".utf8),
            header["zip"] == nil
        else { throw .unsupportedAlgorithm }
        guard header["crit"] == nil else { throw .criticalExtension }
        guard wrappedKey.count == Self.contentKeyByteCount + AESKeyWrap.overheadByteCount,
            nonce.count == Seal.nonceByteCount, tag.count == Seal.tagByteCount
        else { throw .malformed }
        self.header = Array(parts[0])
        self.wrappedKey = wrappedKey
        sealed = nonce + content + tag
    }

    /// Decrypts the content with the key of ``keyByteCount`` bytes that both sides have.
    public func plaintext(with key: [UInt8]) throws(JWEError) -> [UInt8] {
        guard let contentKey = AESKeyWrap.unwrap(wrappedKey, key: key), contentKey.count == Self.contentKeyByteCount,
            let plain = Seal.open(sealed, key: contentKey, associatedData: header)
        else { throw .notDecrypted }
        return plain
    }
}
