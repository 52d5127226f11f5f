import JOSE

/// An authorization code of ours: random, and known to the database by its hash alone.
public struct AuthorizationCode: Sendable {
    /// For how long a code may be redeemed, in seconds (RFC 6749 section 4.1.2: ten minutes at most).
    public static let lifetimeSeconds: Int64 = 60

    private static let prefix = "vac1_"
    private static let byteCount = 32
    private let bytes: [UInt8]

    /// A new code.
    public init(randomBytes: (Int) -> [UInt8]) { bytes = randomBytes(Self.byteCount) }

    /// The code of a text; nil for anything that can't be one.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.prefix.utf8.count + Self.byteCount * 2, text.hasPrefix(Self.prefix),
            let bytes = Base64URL.decode(text.dropFirst(Self.prefix.utf8.count)), bytes.count == Self.byteCount
        else { return nil }
        self.bytes = bytes
    }

    /// The code. A secret.
    public var text: String { Self.prefix + Base64URL.encode(bytes) }
    /// The key of its row. The code can't be computed from it.
    public var hash: [UInt8] { SHA256.hash(text) }
}
