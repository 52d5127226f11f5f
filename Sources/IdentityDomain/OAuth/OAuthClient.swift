import JOSE

/// An app that signs users in by OpenID Connect: an entry of the clients file.
public struct OAuthClient: Sendable {
    /// The most clients of a file.
    public static let countMax = 256
    /// The most redirect URIs of a client.
    public static let redirectURIsMax = 32
    /// The most secrets of a client: one, and the next while it is replaced.
    public static let secretsMax = 4
    /// The most keys of a client: one, and the next while it is replaced.
    public static let keysMax = 4
    /// The most APIs of a client.
    public static let resourcesMax = 16
    /// The longest id, in bytes.
    public static let idBytesMax = 128

    /// The client's id.
    public let id: String
    /// What users see.
    public let name: String
    /// How it authenticates itself.
    public let authentication: ClientAuthentication
    /// Where browsers may be sent with an answer.
    public let redirectURIs: [RedirectURI]
    /// Where browsers may be sent after signing out.
    public var postLogoutRedirectURIs: [RedirectURI] = []
    /// The scopes that it is granted if it asks for them.
    public var scopes = Set(OAuthScope.allCases)
    /// Whether an authorization request must have a PKCE challenge. Public clients always need it; a confidential one may have the nonce
    /// instead (RFC 9700 section 2.1.1).
    public let requiresPKCE: Bool
    /// How long access and ID tokens live, in seconds; nil is the deployment's default.
    public var accessTokenSeconds: Int64?
    /// What signs its ID tokens: ES256, or RS256.
    public var idTokenAlgorithm = SignatureAlgorithm.es256
    /// The APIs, besides ours, for which it may have access tokens (RFC 8707): each is the `aud` of a token.
    public var resources: Set<String> = []
    /// Where it is notified that a session has ended (OpenID Connect Back-Channel Logout 1.0); nil if it isn't.
    public var logoutURI: LogoutURI?
    /// What users must have in their profile before it gets a code, by the names of the profile's missing fields.
    public var requiredFields: [String] = []
    /// An https URL of its logo.
    public var logoURI: String?
    /// The colour of its buttons, `#rrggbb`.
    public var color: String?
    /// Whether its tokens must be bound to a key (RFC 9449; `dpop_bound_access_tokens` of section 5.2).
    public var requiresKey = false
    /// Whether the operator has switched it off: nobody signs in to it, and its sessions are not refreshed.
    public var isDisabled = false

    /// A client with every scope and no other particulars.
    public init(
        id: String,
        name: String,
        authentication: ClientAuthentication,
        redirectURIs: [RedirectURI],
        requiresPKCE: Bool = true
    ) {
        self.id = id
        self.name = name
        self.authentication = authentication
        self.redirectURIs = redirectURIs
        self.requiresPKCE = requiresPKCE || !authentication.isConfidential
    }

    /// Whether it authenticates itself (RFC 6749 section 2.1).
    public var isConfidential: Bool { authentication.isConfidential }

    /// Whether a text may be an id: letters, digits and `-._~`, which form encoding leaves as they are.
    public static func isAcceptable(id: String) -> Bool {
        1...idBytesMax ~= id.utf8.count
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "~"):
                    true
                default: false
                }
            }
    }

    /// Whether a text is a colour, `#rrggbb`.
    public static func isAcceptable(color: String) -> Bool {
        color.utf8.count == 7 && color.hasPrefix("#") && Hex.decode(String(color.dropFirst()))?.count == 3
    }
}

/// How an OAuth client shows who it is (RFC 6749 section 2.3).
public enum ClientAuthentication: Sendable {
    /// Not at all: an app on a phone, or a page in a browser.
    case none
    /// By one of these secrets, of which only the SHA-256 is known. They are random and long, so a fast hash is enough.
    case secrets([[UInt8]])
    /// By a token that one of these keys signed (`private_key_jwt`, OpenID Connect Core section 9).
    case keys(KeySet)

    /// Whether it shows anything.
    public var isConfidential: Bool { if case .none = self { false } else { true } }

    /// Whether a secret is one of the client's. Takes the same time whatever it is.
    public func accepts(secret: String) -> Bool {
        guard case .secrets(let hashes) = self else { return false }
        let hash = SHA256.hash(secret)
        var isOne = false
        for known in hashes where ConstantTime.areEqual(hash, known) { isOne = true }
        return isOne
    }
}

/// Where a client is notified that a session has ended.
public struct LogoutURI: Sendable, Hashable {
    /// The URL.
    public let url: String
    /// Whether it may have a private address, and use `http`.
    public let mayBePrivate: Bool

    /// A URL that was checked.
    public init(url: String, mayBePrivate: Bool) {
        self.url = url
        self.mayBePrivate = mayBePrivate
    }
}
