import JOSE

/// The two tickets of one sign-in in a browser, in the places of the ID token and the authorization code. Both are needed.
public struct WebTickets: Sendable, Hashable {
    /// For how long they are good, in seconds.
    public static let lifetimeSeconds: Int64 = 120
    /// The most that are out at a time, and with them the rows of their table.
    public static let countMax: Int64 = 20_000
    /// The most that are out to one client address.
    public static let perAddressMax: Int64 = 200
    private static let byteCount = 32

    private let idTokenBytes: [UInt8]
    private let codeBytes: [UInt8]

    /// New ones.
    ///
    /// - Parameter randomBytes: that many random bytes, fit for keys.
    public init(randomBytes: (Int) -> [UInt8]) {
        idTokenBytes = randomBytes(Self.byteCount)
        codeBytes = randomBytes(Self.byteCount)
    }

    /// The tickets of two texts; nil unless both can be tickets.
    public init?(idToken: String, code: String) {
        guard let idTokenBytes = Self.bytes(idToken, CredentialKind.idTokenTicketPrefix),
            let codeBytes = Self.bytes(code, CredentialKind.codeTicketPrefix)
        else { return nil }
        self.idTokenBytes = idTokenBytes
        self.codeBytes = codeBytes
    }

    private static func bytes(_ text: String, _ prefix: String) -> [UInt8]? {
        guard text.utf8.count <= prefix.utf8.count + byteCount * 2, text.hasPrefix(prefix),
            let bytes = Base64URL.decode(text.dropFirst(prefix.utf8.count)), bytes.count == byteCount
        else { return nil }
        return bytes
    }

    /// The ticket in the place of the ID token. A secret.
    public var idToken: String { CredentialKind.idTokenTicketPrefix + Base64URL.encode(idTokenBytes) }
    /// The ticket in the place of the code. A secret.
    public var code: String { CredentialKind.codeTicketPrefix + Base64URL.encode(codeBytes) }

    /// By what the row of the tickets is found; tells nothing of them.
    public var idTokenHash: [UInt8] { SHA256.hash(idToken) }
    /// What the row knows of the other one.
    public var codeHash: [UInt8] { SHA256.hash(code) }

    /// Seals what they stand for: only the two together open it, for the same row.
    public func seal(_ grant: WebGrant, boundTo binding: WebTicketBinding) -> [UInt8] {
        Seal.seal(
            grant.content,
            secret: idTokenBytes + codeBytes,
            label: Self.label,
            associatedData: binding.bytes + idTokenHash
        )
    }

    /// What they stand for; nil if it isn't theirs, or the audience is none of the provider's any more.
    public func open(_ sealed: [UInt8], boundTo binding: WebTicketBinding, policy: ProviderPolicy) -> WebGrant? {
        Seal.open(
            sealed,
            secret: idTokenBytes + codeBytes,
            label: Self.label,
            associatedData: binding.bytes + idTokenHash
        ).flatMap { WebGrant(content: $0, policy: policy) }
    }

    private static let label = "vestibule web ticket 1"
}

/// What tickets are bound to, besides each other.
public struct WebTicketBinding: Sendable, Hashable {
    /// The audience.
    public let clientID: String
    /// The PKCE challenge that the sign-in began with; nil where it began without us.
    public let codeChallenge: String?

    /// A binding.
    public init(clientID: String, codeChallenge: String?) {
        self.clientID = clientID
        self.codeChallenge = codeChallenge
    }

    /// Whether a caller who presents these may redeem the tickets. A verifier without a challenge is rejected too (RFC 9700 section 4.8.2):
    /// an attacker has removed the challenge.
    ///
    /// - Parameter clientID: the audience that the app names; empty if it names none.
    public func admits(clientID: String, codeVerifier: String) -> Bool {
        guard clientID.isEmpty || clientID == self.clientID else { return false }
        guard let codeChallenge else { return codeVerifier.isEmpty }
        return CodeChallenge.of(verifier: codeVerifier).map { ConstantTime.areEqual($0, codeChallenge) } ?? false
    }

    fileprivate var bytes: [UInt8] { Array("\(clientID)\0\(codeChallenge ?? "")\0".utf8) }
}
