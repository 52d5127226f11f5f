import JOSE

/// The claims of a verified access token.
struct TokenClaims: Sendable {
    let userID: String
    let sessionID: String
    let session: SessionKey
    let expiresAtSeconds: Int64
    /// `auth_time`; nil without this claim.
    let sessionBegunAtSeconds: Int64?
    /// Whether `acr` says that the user is a guest.
    let isGuest: Bool

    /// `acr` of a guest's tokens.
    static let guestACR = "urn:vestibule:acr:guest"
    /// The longest accepted token, in bytes.
    static let tokenBytesMax = 4_096
    /// The `typ` of access tokens (RFC 9068 section 2.1). ID tokens signed with the same keys have another type.
    static let type = "at+jwt"

    /// Reads the claims of a payload whose signature was verified; nil if they aren't for us.
    init?(_ payload: [UInt8], issuer: String, audience: String) {
        guard let claims = try? JSONObject(parsing: payload), claims["iss"] == .string(issuer),
            claims["aud"] == .string(audience) || claims["aud"]?.array?.contains(.string(audience)) == true,
            let userID = claims["sub"]?.string, let sessionID = claims["sid"]?.string,
            let session = SessionKey(sessionID), let expiresAt = claims["exp"]?.integer,
            // Bound to a key (RFC 9449 section 7.1): it is good only with a proof by that key, which isn't looked at here.
            claims["cnf"] == nil
        else { return nil }
        self.userID = userID
        self.sessionID = sessionID
        self.session = session
        expiresAtSeconds = expiresAt
        sessionBegunAtSeconds = claims["auth_time"]?.integer
        isGuest = claims["acr"] == .string(Self.guestACR)
    }
}

/// Verified tokens, in two generations whose sum is bounded: when the newer one is full, the older one is dropped. Only verified
/// tokens are added, so that a stranger can't fill it.
struct RememberedTokens: Sendable {
    private let generationMax: Int
    private var newer: [String: TokenClaims] = [:]
    private var older: [String: TokenClaims] = [:]

    init(countMax: Int) { generationMax = max(1, countMax / 2) }

    /// The claims of a remembered token.
    mutating func claims(of token: String) -> TokenClaims? {
        if let claims = newer[token] { return claims }
        guard let claims = older.removeValue(forKey: token) else { return nil }
        insert(claims, of: token)
        return claims
    }

    /// Adds a verified token.
    mutating func insert(_ claims: TokenClaims, of token: String) {
        if newer.count >= generationMax { (older, newer) = (newer, [:]) }
        newer[token] = claims
    }

    /// Forgets all tokens.
    mutating func forget() { (newer, older) = ([:], [:]) }
}
