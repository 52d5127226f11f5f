import JOSE
import Models

/// What a sign-in in a browser began with. It travels to the provider and back, and in a cookie; nothing of it is stored.
public struct WebState: Sendable, Hashable {
    /// For how long a sign-in may take, in seconds.
    public static let lifetimeSeconds: Int64 = 600
    /// Bytes that make each state another one.
    public static let randomByteCount = 16
    /// The longest text of a state, in bytes: it has to fit into a cookie with other things.
    public static let textBytesMax = 3_072

    /// The provider.
    public let provider: ProviderName
    /// The audience that the token will be for.
    public let clientID: String
    /// Where the browser is sent at the end.
    public let appURL: String
    /// The PKCE challenge that the tickets will be bound to.
    public let codeChallenge: String
    /// When it is over, in Unix seconds.
    public let expiresAtSeconds: Int64
    /// Makes it unlike any other.
    public let random: [UInt8]
    /// The session for whose account an identity is to be linked; nil for a sign-in.
    public let linkingSession: SessionID?

    /// A state of now.
    public init(
        provider: ProviderName,
        clientID: String,
        appURL: String,
        codeChallenge: String,
        nowSeconds: Int64,
        random: [UInt8],
        linkingSession: SessionID? = nil
    ) {
        self.linkingSession = linkingSession
        precondition(random.count == Self.randomByteCount)
        self.provider = provider
        self.clientID = clientID
        self.appURL = appURL
        self.codeChallenge = codeChallenge
        expiresAtSeconds = nowSeconds + Self.lifetimeSeconds
        self.random = random
    }

    fileprivate init?(content: [UInt8], _ key: [UInt8]) {
        guard let object = try? JSONObject(parsing: content, limits: JSONLimits(bytesMax: Self.textBytesMax)),
            let provider = object["provider"]?.string.flatMap(ProviderName.init),
            let clientID = object["client_id"]?.string, let appURL = object["app_url"]?.string,
            let codeChallenge = object["code_challenge"]?.string, let expiresAt = object["exp"]?.integer,
            let random = object["random"]?.string.flatMap({ Base64URL.decode($0) })
        else { return nil }
        self.provider = provider
        self.clientID = clientID
        self.appURL = appURL
        self.codeChallenge = codeChallenge
        expiresAtSeconds = expiresAt
        self.random = random
        linkingSession = object["link"]?.string.flatMap { Base64URL.decode($0) }.flatMap { sealed in
            SessionID(bytes: Self.masked(sealed, by: random, key))
        }
        // Never taken for a sign-in.
        if object["link"] != nil, linkingSession == nil { return nil }
    }

    fileprivate func content(_ key: [UInt8]) -> [UInt8] {
        var object: JSONObject = [
            "provider": .string(provider.value), "client_id": .string(clientID), "app_url": .string(appURL),
            "code_challenge": .string(codeChallenge), "exp": .integer(expiresAtSeconds),
            "random": .string(Base64URL.encode(random)),
        ]
        if let linkingSession {
            object["link"] = .string(Base64URL.encode(Self.masked(linkingSession.bytes, by: random, key)))
        }
        return object.serialized()
    }

    /// A session's id as it travels, or the id of that: combined with bytes that the key makes of the state's random ones, since providers
    /// and browsers keep what they see. The code over the whole state keeps it from being changed.
    private static func masked(_ id: [UInt8], by random: [UInt8], _ key: [UInt8]) -> [UInt8] {
        let mask = SHA256.authenticationCode(of: Array("link\0".utf8) + random, key: key)
        return zip(id, mask).map { $0 ^ $1 }
    }
}

/// The server's keys for states, made from those for refresh tokens: the first one makes new states, all of them verify.
public struct WebStateKeys: Sendable {
    private static let prefix = "vws1_"
    private let keys: [[UInt8]]

    /// The keys that refresh keys give.
    public init(_ refreshKeys: RefreshKeys) { keys = refreshKeys.derived("vestibule web state 1") }

    /// A state with what belongs to it.
    public struct Minted: Sendable, Hashable {
        /// What travels.
        public let text: String
        /// The nonce whose claim the ID token must have. It can't be read from the state: a URL with the state in it may be in
        /// a log.
        public let rawNonce: String
    }

    /// The text and the nonce of a state; nil if it is too long to travel.
    public func mint(_ state: WebState) -> Minted? {
        let content = state.content(keys[0])
        let text = Self.prefix + Base64URL.encode(content + Self.code(content, "state", keys[0]))
        guard text.utf8.count <= WebState.textBytesMax else { return nil }
        return Minted(text: text, rawNonce: Self.nonce(content, keys[0]))
    }

    /// The state of a text that one of our keys made and that isn't over, and the nonce that belongs to it; nil for anything
    /// else.
    public func verify(_ text: String, nowSeconds: Int64) -> (state: WebState, rawNonce: String)? {
        guard text.utf8.count <= WebState.textBytesMax, text.hasPrefix(Self.prefix),
            let bytes = Base64URL.decode(text.dropFirst(Self.prefix.utf8.count)), bytes.count > SHA256.byteCount
        else { return nil }
        let content = Array(bytes.dropLast(SHA256.byteCount))
        let key = keys.first { key in
            ConstantTime.areEqual(Self.code(content, "state", key), bytes.suffix(SHA256.byteCount))
        }
        guard let key, let state = WebState(content: content, key), nowSeconds < state.expiresAtSeconds else {
            return nil
        }
        return (state, Self.nonce(content, key))
    }

    private static func nonce(_ content: [UInt8], _ key: [UInt8]) -> String {
        Base64URL.encode(code(content, "nonce", key))
    }

    private static func code(_ content: [UInt8], _ purpose: String, _ key: [UInt8]) -> [UInt8] {
        SHA256.authenticationCode(of: Array(purpose.utf8) + [0] + content, key: key)
    }
}

/// PKCE (RFC 7636) with S256, the only method that we take.
public enum CodeChallenge {
    /// Whether a text is the base64url of a SHA-256 hash (section 4.2).
    public static func isAcceptable(_ text: String) -> Bool {
        Base64URL.decode(text)?.count == SHA256.byteCount
    }

    /// The challenge of a verifier; nil for a text that can be none (section 4.1).
    public static func of(verifier: String) -> String? {
        guard 43...128 ~= verifier.utf8.count, verifier.utf8.allSatisfy(isUnreserved) else { return nil }
        return Base64URL.encode(SHA256.hash(verifier))
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
