/// Compact JWS (RFC 7515 section 7.1) of one `typ`, signed with HMAC-SHA256 (RFC 7518 section 3.2): for tokens that only
/// their maker verifies.
///
/// The header is one fixed text, and a token with any other is rejected unread: so a token can't choose how it is verified.
/// This never accepts a token of ``CompactJWS``, nor the other way round, since that has no symmetric algorithm. Immutable; any
/// thread.
public struct HMACSignedTokens: Sendable {
    /// The header in base64url and the dot after it.
    private let start: String

    /// Tokens of this `typ`.
    public init(type: String) {
        let header: JSONObject = ["alg": "HS256", "typ": .string(type)]
        start = Base64URL.encode(header.serialized()) + "."
    }

    /// A token over `claims`.
    public func token(claims: JSONObject, key: [UInt8]) -> String {
        let input = start + Base64URL.encode(claims.serialized())
        return input + "." + Base64URL.encode(SHA256.authenticationCode(of: Array(input.utf8), key: key))
    }

    /// Whether a text begins like these tokens. Cheap; verifies nothing.
    public func beginsOne(_ text: String) -> Bool { text.hasPrefix(start) }

    /// The payload of a token that one of `keys` signed; nil for anything else, and for a text longer than `bytesMax`.
    public func verifiedPayload(of text: String, keys: [[UInt8]], bytesMax: Int) -> [UInt8]? {
        guard text.utf8.count <= bytesMax, beginsOne(text), let dot = text.utf8.lastIndex(of: UInt8(ascii: ".")),
            let code = Base64URL.decode(utf8: text.utf8[text.utf8.index(after: dot)...]), code.count == SHA256.byteCount
        else { return nil }
        let input = Array(text.utf8[..<dot])
        let isSigned = keys.contains { key in
            ConstantTime.areEqual(SHA256.authenticationCode(of: input, key: key), code)
        }
        // A signed token has a payload between its two dots; a text with only the header's dot was never signed.
        guard isSigned, input.count > start.utf8.count else { return nil }
        return Base64URL.decode(utf8: input[start.utf8.count...])
    }
}
