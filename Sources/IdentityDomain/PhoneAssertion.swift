import JOSE
import Models

/// What the app's own backend says in a signed assertion: that a number is a user's.
public struct PhoneAssertion: Sendable, Hashable {
    /// SHA-256 of the issuer and the assertion's `jti`: it is good once.
    public let fingerprint: [UInt8]
    /// The number, in E.164 with the leading plus.
    public let phoneNumber: String
    /// Until when it would be accepted, in Unix seconds: so long its fingerprint is kept.
    public let acceptedUntilSeconds: Int64
}

/// Why an assertion is refused.
public enum PhoneAssertionRejection: Error, Sendable, Hashable {
    /// Nobody's assertions are believed here.
    case notConfigured
    /// It is no JWT of ours to read, its key is not known, or it doesn't verify.
    case invalid
    /// It is somebody else's, for somebody else, or about another user.
    case mismatched
    /// Its time is over, or not come yet, or longer than five minutes.
    case expired
}

/// Whose assertions of phone numbers are believed: the app's own backend, by its keys.
///
/// A JWT (RFC 7519) that is signed by one of the keys (RFC 7515; the algorithms are asymmetric ones, bound to the keys, RFC 8725 sections
/// 3.1 and 3.2), with `iss` and `aud` as configured, `sub` the id of the user who presents it, `phone_number`, `jti`, `iat` and `exp`.
public struct PhoneAssertionPolicy: Sendable {
    /// The longest time between `iat` and `exp`.
    public static let lifetimeSecondsMax: Int64 = 300
    /// How far the backend's clock may be from ours.
    public static let clockLeewaySeconds: Int64 = 30
    /// The longest `jti`, in bytes.
    public static let idBytesMax = 256
    /// The longest assertion, in bytes.
    public static let bytesMax = 4_096

    /// The value of `iss`.
    public let issuer: String
    /// The value of `aud`.
    public let audience: String
    /// The keys that sign.
    public let keys: KeySet

    /// A policy.
    public init(issuer: String, audience: String, keys: KeySet) {
        self.issuer = issuer
        self.audience = audience
        self.keys = keys
    }

    /// Verifies and judges an assertion that a user presents. Pure: the time is a parameter.
    public func judge(
        _ text: String,
        for userID: UserID,
        nowSeconds: Int64
    ) throws(PhoneAssertionRejection) -> PhoneAssertion {
        guard let jws = try? CompactJWS(parsing: text, bytesMax: Self.bytesMax),
            // Other tokens that the same keys sign say what they are (RFC 8725 section 3.11).
            jws.type.map({ $0.lowercased() == "jwt" }) ?? true,
            let key = jws.keyID.flatMap({ keys.key(id: $0, algorithm: jws.algorithm) }),
            let payload = try? jws.verifiedPayload(with: key),
            let claims = try? JSONObject(parsing: payload, limits: JSONLimits(bytesMax: Self.bytesMax))
        else { throw .invalid }
        guard claims["iss"]?.string == issuer, Self.isAudience(claims["aud"], audience),
            let subject = claims["sub"]?.string, UserID(subject) == userID
        else { throw .mismatched }
        guard let issuedAt = Self.date(claims["iat"]), let expiresAt = Self.date(claims["exp"]),
            let id = claims["jti"]?.string, 1...Self.idBytesMax ~= id.utf8.count,
            let number = claims["phone_number"]?.string, Self.isE164(number)
        else { throw .invalid }
        let notBefore = max(issuedAt, try Self.optionalDate(claims["nbf"]) ?? issuedAt)
        guard issuedAt <= expiresAt, expiresAt - issuedAt <= Self.lifetimeSecondsMax,
            nowSeconds < expiresAt + Self.clockLeewaySeconds, nowSeconds >= notBefore - Self.clockLeewaySeconds
        else { throw .expired }
        return PhoneAssertion(
            fingerprint: SHA256.hash(Array(issuer.utf8) + [0] + Array(id.utf8)),
            phoneNumber: number,
            acceptedUntilSeconds: expiresAt + Self.clockLeewaySeconds
        )
    }

    /// Whether a text is shaped as E.164 asks, with the leading plus. Which numbers are taken is profile's to say.
    public static func isE164(_ text: String) -> Bool {
        text.hasPrefix("+") && PhoneNumber(stored: String(text.dropFirst())) != nil
    }

    /// Meant for us alone: what is also meant for somebody else could come from them.
    private static func isAudience(_ claim: JSONValue?, _ audience: String) -> Bool {
        if let text = claim?.string { return text == audience }
        return claim?.array.map { $0.count == 1 && $0[0].string == audience } ?? false
    }

    /// A NumericDate between 1970 and 9999, so that sums with it cannot overflow.
    private static func date(_ value: JSONValue?) -> Int64? {
        value?.numericDateSeconds.flatMap { 0...253_402_300_799 ~= $0 ? $0 : nil }
    }

    private static func optionalDate(_ value: JSONValue?) throws(PhoneAssertionRejection) -> Int64? {
        guard let value else { return nil }
        guard let date = date(value) else { throw .invalid }
        return date
    }
}

/// Why a number that is proven isn't the user's all the same.
public enum PhoneProofRefusal: Error, Sendable, Hashable {
    /// Somebody else has proven it: an operator settles that.
    case taken
    /// No such number is taken here.
    case notAllowed
    /// It has opened the old account that the number came with, which has absorbed the user's.
    case accountOpened
}
