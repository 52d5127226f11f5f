import JOSE

/// The key of cursors of one scope, which ``CursorSeal/key(for:)`` derives. Who has it can seal and open cursors of that scope
/// and of no other.
public struct CursorKey: Sendable, CustomStringConvertible {
    /// Bytes of a key.
    public static let byteCount = SHA256.byteCount
    /// Bytes of the MAC at the end of a cursor: half of HMAC-SHA-256, the least that RFC 2104 section 5 recommends.
    public static let macByteCount = 16

    /// The key itself. A secret.
    public let bytes: [UInt8]

    /// A key of ``byteCount`` bytes; nil for another count.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// The key of a scope under a master key.
    init(master: [UInt8], scope: CursorScope) { bytes = SHA256.authenticationCode(of: scope.label, key: master) }

    /// Returns a payload and its MAC.
    public func seal(_ payload: [UInt8]) -> [UInt8] {
        payload + SHA256.authenticationCode(of: payload, key: bytes).prefix(Self.macByteCount)
    }

    /// Returns the payload of a cursor; nil if this key did not seal it. Compares in constant time.
    func open(_ cursor: [UInt8]) -> ArraySlice<UInt8>? {
        guard cursor.count >= Self.macByteCount else { return nil }
        let payload = cursor.dropLast(Self.macByteCount)
        let mac = SHA256.authenticationCode(of: Array(payload), key: bytes).prefix(Self.macByteCount)
        return ConstantTime.areEqual(mac, cursor.suffix(Self.macByteCount)) ? payload : nil
    }

    /// Never the key.
    public var description: String { "CursorKey" }
}
