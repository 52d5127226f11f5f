import JOSE
import Models

/// How long a single token lives.
public enum SingleTokenStyle: String, Sendable, Hashable, CaseIterable {
    /// For days, and is renewed.
    case renewed = "renewed"
    /// As long as the session may, for apps that renew nothing.
    case forSession = "session"
}

/// What a single token says, once it is verified.
public struct SingleClaims: Sendable, Hashable {
    /// The account.
    public let userID: UserID
    /// The session.
    public let sessionID: SessionID
    /// What only the session's row knows.
    public let nonce: [UInt8]
    /// How long its successor lives.
    public let style: SingleTokenStyle
    /// When the token expires, in Unix seconds.
    public let expiresAtSeconds: Int64

    /// Throws `accessTokenExpired` at and after the token's end. There is no leeway: the clock that made it is ours.
    public func checkLifetime(nowSeconds: Int64) throws(IdentityError) {
        guard nowSeconds < expiresAtSeconds else { throw .accessTokenExpired }
    }
}

/// Makes and verifies single tokens: the one token of an app that keeps no other. Immutable; any thread.
///
/// They live for days, so each use is checked against the session's row, and no server may accept one without asking us: they are signed by HMAC
/// with keys that never leave us, and have a `typ` and an `aud` of their own, so that servers which verify our access tokens by the
/// published keys reject them. They carry the nonce of the session's row as refresh
/// tokens do: a key alone makes no token for a session whose id is known.
public struct SingleTokens: Sendable, CustomStringConvertible {
    /// The longest single token that we look at, in bytes; ours have about 500.
    public static let bytesMax = 2048
    /// `aud`, whatever that of the access tokens is.
    public static let audience = "vestibule-single-token"
    private static let format = HMACSignedTokens(type: "vst+jwt")

    private let issuer: String
    private let lifetimeSeconds: Int64
    private let keys: [[UInt8]]

    /// Single tokens under keys that are derived from the refresh keys.
    ///
    /// - Parameter lifetimeSeconds: how long one lives that is renewed.
    public init(issuer: String, lifetimeSeconds: Int64, keys: RefreshKeys) {
        self.issuer = issuer
        self.lifetimeSeconds = lifetimeSeconds
        self.keys = keys.derived("vestibule single token 1")
    }

    /// A token of a session, and when it expires, in Unix seconds.
    ///
    /// - Parameter sessionEndsAtSeconds: when the session ends at the latest: no token outlives it.
    public func mint(
        userID: UserID,
        sessionID: SessionID,
        nonce: [UInt8],
        style: SingleTokenStyle,
        sessionEndsAtSeconds: Int64,
        nowSeconds: Int64
    ) -> (text: String, expiresAtSeconds: Int64) {
        let expiresAtSeconds =
            switch style {
            case .renewed: min(nowSeconds + lifetimeSeconds, sessionEndsAtSeconds)
            case .forSession: sessionEndsAtSeconds
            }
        let claims: JSONObject = [
            "iss": .string(issuer),
            "aud": .string(Self.audience),
            "sub": .string(userID.description),
            "sid": .string(sessionID.description),
            "iat": .integer(nowSeconds),
            "exp": .integer(expiresAtSeconds),
            "style": .string(style.rawValue),
            "session_nonce": .string(Base64URL.encode(nonce)),
        ]
        return (Self.format.token(claims: claims, key: keys[0]), expiresAtSeconds)
    }

    /// Whether a text can only be a single token, by its header alone: nobody has verified it. Cheap.
    public static func isSingleToken(_ text: String) -> Bool { format.beginsOne(text) }

    /// The claims of a single token that we made, whether or not it has expired.
    ///
    /// - Throws: `accessTokenInvalid` for everything else.
    public func verifiedClaims(_ text: String) throws(IdentityError) -> SingleClaims {
        guard let payload = Self.format.verifiedPayload(of: text, keys: keys, bytesMax: Self.bytesMax),
            let claims = try? JSONObject(parsing: payload),
            claims["iss"] == .string(issuer), claims["aud"] == .string(Self.audience),
            let userID = claims["sub"]?.string.flatMap({ UserID($0) }),
            let sessionID = claims["sid"]?.string.flatMap({ SessionID($0) }),
            let expiresAt = claims["exp"]?.integer,
            let style = claims["style"]?.string.flatMap(SingleTokenStyle.init(rawValue:)),
            let nonce = claims["session_nonce"]?.string.flatMap({ Base64URL.decode($0) }),
            nonce.count == RefreshToken.nonceByteCount
        else { throw .accessTokenInvalid }
        return SingleClaims(
            userID: userID,
            sessionID: sessionID,
            nonce: nonce,
            style: style,
            expiresAtSeconds: expiresAt
        )
    }

    /// How many keys there are; never a key.
    public var description: String { "SingleTokens(\(keys.count) keys)" }
}
