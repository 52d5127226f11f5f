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
    /// Who holds them. A token of one use is never valid for the other: type, audience and keys differ.
    public enum Use: Sendable, Hashable {
        /// An app, as its bearer token.
        case app
        /// A browser, as a cookie of our own pages.
        case browser

        /// `aud`, whatever that of the access tokens is.
        public var audience: String {
            switch self {
            case .app: "vestibule-single-token"
            case .browser: "vestibule-browser-session"
            }
        }

        fileprivate var format: HMACSignedTokens {
            switch self {
            case .app: SingleTokens.appFormat
            case .browser: SingleTokens.browserFormat
            }
        }

        fileprivate var keyLabel: String {
            switch self {
            case .app: "vestibule single token 1"
            case .browser: "vestibule browser session 1"
            }
        }
    }

    private static let appFormat = HMACSignedTokens(type: "vst+jwt")
    private static let browserFormat = HMACSignedTokens(type: "vbs+jwt")

    private let use: Use
    private let issuer: String
    private let lifetimeSeconds: Int64
    private let keys: [[UInt8]]

    /// Single tokens under keys that are derived from the refresh keys.
    ///
    /// - Parameter lifetimeSeconds: how long one lives that is renewed.
    public init(for use: Use = .app, issuer: String, lifetimeSeconds: Int64, keys: RefreshKeys) {
        self.use = use
        self.issuer = issuer
        self.lifetimeSeconds = lifetimeSeconds
        self.keys = keys.derived(use.keyLabel)
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
            "aud": .string(use.audience),
            "sub": .string(userID.description),
            "sid": .string(sessionID.description),
            "iat": .integer(nowSeconds),
            "exp": .integer(expiresAtSeconds),
            "style": .string(style.rawValue),
            "session_nonce": .string(Base64URL.encode(nonce)),
        ]
        return (use.format.token(claims: claims, key: keys[0]), expiresAtSeconds)
    }

    /// Whether a text can only be a single token of an app, by its header alone: nobody has verified it. Cheap.
    public static func isSingleToken(_ text: String) -> Bool { appFormat.beginsOne(text) }

    /// The claims of a single token that we made, whether or not it has expired.
    ///
    /// - Throws: `accessTokenInvalid` for everything else.
    public func verifiedClaims(_ text: String) throws(IdentityError) -> SingleClaims {
        guard let payload = use.format.verifiedPayload(of: text, keys: keys, bytesMax: Self.bytesMax),
            let claims = try? JSONObject(parsing: payload),
            claims["iss"] == .string(issuer), claims["aud"] == .string(use.audience),
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
