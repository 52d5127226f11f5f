import JOSE

/// An app that signs users in by OpenID Connect: an entry of the clients file.
public struct OAuthClient: Sendable, Hashable {
    /// The most clients of a file.
    public static let countMax = 256
    /// The most redirect URIs of a client.
    public static let redirectURIsMax = 32
    /// The most secrets of a client: one, and the next while it is replaced.
    public static let secretsMax = 4
    /// The longest id, in bytes.
    public static let idBytesMax = 128

    /// The client's id.
    public let id: String
    /// What users see.
    public let name: String
    /// SHA-256 of each secret; none for a public client. Secrets are random and long, so a fast hash is enough.
    public let secretHashes: [[UInt8]]
    /// Where browsers may be sent with an answer.
    public let redirectURIs: [RedirectURI]
    /// Where browsers may be sent after signing out.
    public let postLogoutRedirectURIs: [RedirectURI]
    /// The scopes that it is granted if it asks for them.
    public let scopes: Set<OAuthScope>
    /// Whether an authorization request must have a PKCE challenge. Public clients always need it; a confidential one may have the nonce
    /// instead (RFC 9700 section 2.1.1).
    public let requiresPKCE: Bool
    /// How long access and ID tokens live, in seconds; nil is the deployment's default.
    public let accessTokenSeconds: Int64?

    /// A client.
    public init(
        id: String,
        name: String,
        secretHashes: [[UInt8]],
        redirectURIs: [RedirectURI],
        postLogoutRedirectURIs: [RedirectURI],
        scopes: Set<OAuthScope>,
        requiresPKCE: Bool,
        accessTokenSeconds: Int64?
    ) {
        self.id = id
        self.name = name
        self.secretHashes = secretHashes
        self.redirectURIs = redirectURIs
        self.postLogoutRedirectURIs = postLogoutRedirectURIs
        self.scopes = scopes
        self.requiresPKCE = requiresPKCE || secretHashes.isEmpty
        self.accessTokenSeconds = accessTokenSeconds
    }

    /// Whether it authenticates itself (RFC 6749 section 2.1).
    public var isConfidential: Bool { !secretHashes.isEmpty }

    /// Whether a secret is one of the client's. Takes the same time whatever it is.
    public func accepts(secret: String) -> Bool {
        let hash = SHA256.hash(secret)
        var isOne = false
        for known in secretHashes where ConstantTime.areEqual(hash, known) { isOne = true }
        return isOne
    }

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
}
