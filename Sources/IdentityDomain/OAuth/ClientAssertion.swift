import JOSE

/// A token by which a client authenticates itself (`private_key_jwt`, RFC 7523 section 3), verified.
public struct ClientAssertion: Sendable, Hashable {
    /// The `client_assertion_type`.
    public static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// The longest one, in bytes.
    public static let bytesMax = 4_096
    /// The longest `jti`, in bytes.
    public static let idBytesMax = 255
    /// How long one may be valid, in seconds.
    public static let lifetimeSecondsMax: Int64 = 300
    /// How much the client's clock may differ from ours, in seconds.
    public static let leewaySeconds: Int64 = 30

    /// SHA-256 of its `jti`: a client shows each assertion once.
    public let idHash: [UInt8]
    /// From when on we need not remember it, in Unix seconds.
    public let expiresAtSeconds: Int64

    /// The client that an assertion claims to be of. Nobody has verified it: it only finds the keys.
    public static func claimedClientID(_ text: String) -> String? {
        guard let jws = try? CompactJWS(parsing: text, bytesMax: bytesMax) else { return nil }
        return (try? JSONObject(parsing: jws.unverifiedPayload))?["sub"]?.string
    }

    /// Verifies an assertion of a client.
    ///
    /// - Parameter audience: our issuer, the only `aud` that is accepted: of several, another server could pass it on to us.
    /// - Throws: `invalid_client` for anything but a valid one.
    public init(
        verifying text: String,
        of clientID: String,
        keys: KeySet,
        audience: String,
        nowSeconds: Int64
    ) throws(OAuthFailure) {
        func refuse(_ description: String) -> OAuthFailure { OAuthFailure(.invalidClient, description) }
        guard let jws = try? CompactJWS(parsing: text, bytesMax: Self.bytesMax), let keyID = jws.keyID,
            let key = keys.key(id: keyID, algorithm: jws.algorithm), let payload = try? jws.verifiedPayload(with: key),
            let claims = try? JSONObject(parsing: payload)
        else { throw refuse("The client_assertion is not signed by a key of the client.") }
        guard claims["iss"] == .string(clientID), claims["sub"] == .string(clientID) else {
            throw refuse("The client_assertion must have the client_id as iss and sub.")
        }
        guard claims["aud"] == .string(audience) || claims["aud"] == .array([.string(audience)]) else {
            throw refuse("The client_assertion must have our issuer as its only aud.")
        }
        guard let expiresAt = claims["exp"]?.integer, nowSeconds < expiresAt else {
            throw refuse("The client_assertion has expired, or has no exp.")
        }
        let latest = nowSeconds + Self.leewaySeconds
        guard expiresAt <= latest + Self.lifetimeSecondsMax else {
            throw refuse("The client_assertion is valid for more than five minutes.")
        }
        for name in ["iat", "nbf"] {
            guard let value = claims[name] else { continue }
            guard let time = value.integer, time <= latest else {
                throw refuse("The client_assertion is not valid yet.")
            }
        }
        guard let id = claims["jti"]?.string, 1...Self.idBytesMax ~= id.utf8.count else {
            throw refuse("The client_assertion must have a jti of 1 to 255 bytes.")
        }
        idHash = SHA256.hash(id)
        expiresAtSeconds = expiresAt
    }
}
