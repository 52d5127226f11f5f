import HTTPJSON
import JOSE

/// The differences of a token from a valid one, so that each reason to reject a token can be tested.
struct TokenOverrides: Sendable {
    /// How the token is signed.
    enum Signature: String, Sendable, CaseIterable {
        /// RS256 with the published key.
        case published
        /// RS256 with another key under the published key's `kid`.
        case foreign
        /// RS256 with another key under a `kid` of its own, which is not published.
        case unknown
        /// `alg` is `none`, and the signature is empty.
        case none
        /// `alg` is HS256 with the published modulus as the secret (RFC 8725 section 2.1).
        case hs256
    }

    var signature = Signature.published
    /// Seconds from `iat` to `exp`; may be negative.
    var expiresInSeconds: Int64?
    /// Seconds from now to `iat`; may be negative.
    var issuedInSeconds: Int64 = 0
    /// Whether `email_verified` and `is_private_email` are the texts "true" and "false", as Apple sometimes sends them.
    var hasTextBooleans = false
    /// Claims to set or replace, `iss` and `aud` among them.
    var claims = JSONObject()
    /// Claims to leave out.
    var omitted: [String] = []

    init() {}

    /// Reads the request's `overrides`.
    init(_ input: inout JSONInput) {
        if let issuer = input.optionalString("issuer") { claims["iss"] = .string(issuer) }
        if let audience = input.optionalString("audience") { claims["aud"] = .string(audience) }
        expiresInSeconds = input.optionalInteger("expires_in", in: -Self.secondsMax...Self.secondsMax)
        issuedInSeconds = input.optionalInteger("issued_in", in: -Self.secondsMax...Self.secondsMax) ?? 0
        hasTextBooleans = input.optionalBool("text_booleans") ?? false
        for member in (input.optionalObject("claims") ?? JSONObject()).members { claims[member.name] = member.value }
        omitted = input.optionalStrings("omit") ?? []
        let algorithm = input.optionalString("algorithm") ?? "RS256"
        let key = input.optionalString("signing_key") ?? "published"
        switch (algorithm, key) {
        case ("RS256", "published"): signature = .published
        case ("RS256", "foreign"): signature = .foreign
        case ("RS256", "unknown"): signature = .unknown
        case ("none", "published"): signature = .none
        case ("HS256", "published"): signature = .hs256
        case ("RS256", _):
            input.addError("signing_key", code: "INVALID", detail: "One of published, foreign, unknown.")
        default:
            input.addError(
                "algorithm",
                code: "INVALID",
                detail: "One of RS256, none, HS256; the last two without a key."
            )
        }
    }

    /// Ten years: far enough for every test, and no arithmetic overflows.
    static let secondsMax: Int64 = 315_360_000

    /// The claims to sign.
    func applied(to claims: JSONObject) -> JSONObject {
        var result = claims
        if hasTextBooleans {
            for name in ["email_verified", "is_private_email"] {
                if let value = result[name]?.bool { result[name] = .string(value ? "true" : "false") }
            }
        }
        for member in self.claims.members { result[member.name] = member.value }
        for name in omitted { result[name] = nil }
        return result
    }
}
