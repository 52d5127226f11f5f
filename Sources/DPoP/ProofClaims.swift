import JOSE

/// The claims of a proof (RFC 9449 section 4.2), of the right types. Others are ignored.
struct ProofClaims: Sendable {
    /// The maximum length of `jti` in bytes: a UUID has 36, and section 4.2 asks for no more.
    static let identifierBytesMax = 128

    /// `jti`.
    let identifier: String
    /// `htm`.
    let method: String
    /// `htu`.
    let target: String
    /// `iat` in seconds since 1970.
    let issuedAtSeconds: Int64
    /// `exp` in seconds since 1970. A proof needs none, but a JWT that has one ends then (RFC 7519 section 4.1.4).
    let expirationSeconds: Int64?
    /// `nbf` in seconds since 1970, as `exp`.
    let notBeforeSeconds: Int64?
    /// `ath`: the hash of the access token as base64url.
    let accessTokenHash: String?
    /// `nonce`.
    let nonce: String?

    init(_ claims: JSONObject) throws(DPoPError) {
        guard let identifier = claims["jti"]?.string, 1...Self.identifierBytesMax ~= identifier.utf8.count,
            let method = claims["htm"]?.string, let target = claims["htu"]?.string,
            let issuedAtSeconds = claims["iat"]?.numericDateSeconds
        else { throw .malformed }
        self.identifier = identifier
        self.method = method
        self.target = target
        self.issuedAtSeconds = issuedAtSeconds
        expirationSeconds = try Self.optional(claims["exp"]) { $0.numericDateSeconds }
        notBeforeSeconds = try Self.optional(claims["nbf"]) { $0.numericDateSeconds }
        accessTokenHash = try Self.optional(claims["ath"]) { $0.string }
        nonce = try Self.optional(claims["nonce"]) { $0.string }
    }

    /// What `read` finds in a claim; nil if the claim is not there.
    private static func optional<Value>(
        _ claim: JSONValue?,
        _ read: (JSONValue) -> Value?
    ) throws(DPoPError) -> Value? {
        guard let claim else { return nil }
        guard let value = read(claim) else { throw .malformed }
        return value
    }
}
