import JOSE

/// Seals what clients hand back and must not change: page tokens and positions of streams.
///
/// A cursor is its payload and 16 bytes of HMAC-SHA-256 over it, under a key that is HMAC-SHA-256 of the ``CursorScope`` under the
/// service's key of cursors. All replicas have the same keys. One that is about to be used, and those that were, open cursors
/// as well as the current one, so that a rotation is noticed by no client. The payload is authenticated and not secret.
///
/// Immutable; any thread.
public final class CursorSeal: Sendable, CustomStringConvertible {
    /// Bytes of a key.
    public static let keyByteCount = 32

    private let keys: [[UInt8]]
    private let current: [UInt8]

    /// A seal of these keys, the current one first; nil unless there is one and each has ``keyByteCount`` bytes.
    public init?(keys: [[UInt8]]) {
        guard let current = keys.first, keys.allSatisfy({ $0.count == Self.keyByteCount }) else { return nil }
        self.keys = keys
        self.current = current
    }

    /// Derives the key of a scope, for who seals in the name of this service.
    public func key(for scope: CursorScope) -> CursorKey { CursorKey(master: current, scope: scope) }

    /// Returns a cursor in bytes.
    public func seal(_ payload: some CursorPayload, for scope: CursorScope) -> [UInt8] {
        key(for: scope).seal(payload.bytes)
    }

    /// Returns a cursor as text, in base64url.
    public func text(_ payload: some CursorPayload, for scope: CursorScope) -> String {
        Base64URL.encode(seal(payload, for: scope))
    }

    /// Opens a cursor in bytes.
    ///
    /// - Throws: `CursorError` for any bytes that this seal did not make for this scope.
    public func open<Payload: CursorPayload>(
        _ cursor: some Collection<UInt8>,
        for scope: CursorScope
    ) throws(CursorError) -> Payload {
        // Before anything is computed over bytes of any length.
        guard cursor.count <= Payload.bytesMax + CursorKey.macByteCount else { throw CursorError() }
        let cursor = Array(cursor)
        for key in keys {
            guard let payload = CursorKey(master: key, scope: scope).open(cursor) else { continue }
            return try Payload(parsing: payload)
        }
        throw CursorError()
    }

    /// Opens a cursor that is text.
    ///
    /// - Throws: `CursorError` as ``open(_:for:)``.
    public func open<Payload: CursorPayload>(text: String, for scope: CursorScope) throws(CursorError) -> Payload {
        let bytesMax = Payload.bytesMax + CursorKey.macByteCount
        guard text.utf8.count <= Base64URL.characterCount(of: bytesMax), let cursor = Base64URL.decode(text) else {
            throw CursorError()
        }
        return try open(cursor, for: scope)
    }

    /// Never a key.
    public var description: String { "CursorSeal" }
}

/// A service's seal by the keys that are in its folder now.
public typealias CurrentCursors = ReplaceableValue<CursorSeal>
