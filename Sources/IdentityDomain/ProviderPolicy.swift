import JOSE

/// What a provider is to us: whose tokens we accept, signed how, for whom, and for how long.
public struct ProviderPolicy: Sendable, Hashable {
    /// The name by which apps call it.
    public let name: ProviderName
    /// The values of `iss` that are this provider's: spellings of one issuer, in which a subject is the same person, since
    /// accounts are kept by provider and subject. Never taken from discovery: Apple's said something else for a day.
    public let issuers: Set<String>
    /// Our apps by the values of `aud`, and what is asked of their tokens.
    public let audiences: [String: AudiencePolicy]
    /// The algorithms that the provider signs with (RFC 8725 section 3.1).
    public let algorithms: Set<SignatureAlgorithm>
    /// Where its key set is.
    public let keysURL: String
    /// How far the provider's clock may be from ours.
    public let clockLeewaySeconds: Int64
    /// How long after `iat` a token is accepted, whatever its `exp`.
    public let tokenAgeSecondsMax: Int64

    /// The most spellings of the issuer, and the most audiences.
    public static let namesMax = 64

    /// A provider; throws what is wrong with it, in words for whoever configures it.
    public init(
        name: ProviderName,
        issuers: [String],
        audiences: [AudiencePolicy],
        algorithms: [SignatureAlgorithm] = [.rs256],
        keysURL: String,
        clockLeewaySeconds: Int64 = 60,
        tokenAgeSecondsMax: Int64 = 86_400
    ) throws(ProviderPolicyFault) {
        guard 1...Self.namesMax ~= issuers.count, issuers.allSatisfy({ !$0.isEmpty }) else { throw .issuers }
        guard 1...Self.namesMax ~= audiences.count, audiences.allSatisfy({ !$0.id.isEmpty }) else { throw .audiences }
        let byID = Dictionary(audiences.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        guard byID.count == audiences.count else { throw .audiences }
        guard !algorithms.isEmpty else { throw .algorithms }
        guard KeysURL.isAcceptable(keysURL) else { throw .keysURL }
        guard 0...600 ~= clockLeewaySeconds, 60...604_800 ~= tokenAgeSecondsMax else { throw .times }
        self.name = name
        self.issuers = Set(issuers)
        self.audiences = byID
        self.algorithms = Set(algorithms)
        self.keysURL = keysURL
        self.clockLeewaySeconds = clockLeewaySeconds
        self.tokenAgeSecondsMax = tokenAgeSecondsMax
    }

    /// Apple, whose tokens live for about a day.
    public static func apple(audiences: [AudiencePolicy], keysURL: String) throws(ProviderPolicyFault) -> ProviderPolicy
    {
        try ProviderPolicy(
            name: .apple,
            issuers: ["https://appleid.apple.com"],
            audiences: audiences,
            keysURL: keysURL
        )
    }

    /// Google, whose tokens name the issuer in one of two ways.
    public static func google(audiences: [AudiencePolicy], keysURL: String) throws(ProviderPolicyFault)
        -> ProviderPolicy
    {
        try ProviderPolicy(
            name: .google,
            issuers: ["https://accounts.google.com", "accounts.google.com"],
            audiences: audiences,
            keysURL: keysURL
        )
    }
}

/// What is wrong with a provider's configuration.
public enum ProviderPolicyFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// No issuer, too many, or an empty one.
    case issuers
    /// No audience, too many, an empty one, or one twice.
    case audiences
    /// No algorithm.
    case algorithms
    /// Not an `https` URL, nor an `http` one of this machine or of a test.
    case keysURL
    /// The leeway or the age is out of range.
    case times

    /// The fault in a sentence.
    public var description: String {
        switch self {
        case .issuers: "needs 1 to \(ProviderPolicy.namesMax) issuers, none of them empty"
        case .audiences: "needs 1 to \(ProviderPolicy.namesMax) audiences, none of them empty and none twice"
        case .algorithms: "needs at least one algorithm"
        case .keysURL:
            "must be an https URL; http is allowed for 127.0.0.1, [::1], localhost and names under .test only"
        case .times: "allows a clock leeway of 0 to 600 seconds and a token age of 60 to 604800 seconds"
        }
    }
}

/// The rule for URLs of key sets: whoever can change the answer can sign anyone in, so it must come over TLS. A simulator
/// may be asked by `http` where that was switched on: on this machine, or by a name under `.test`, which stands for nobody
/// on the Internet (RFC 6761 section 6.2), but for whom the network's own names say.
public enum KeysURL {
    /// The longest URL, in bytes.
    public static let bytesMax = 2048

    /// Whether an acceptable URL is asked by TLS.
    public static func isEncrypted(_ url: String) -> Bool { url.hasPrefix("https://") }

    /// Whether an acceptable URL is asked by `http` on this machine, where nobody on a network can answer in its place.
    public static func isLocal(_ url: String) -> Bool {
        guard !isEncrypted(url) else { return false }
        return !authority(of: url.dropFirst("http://".count)).prefix { $0 != ":" }.hasSuffix(".test")
    }

    /// Whether keys may be fetched from this URL, by `http` if that is switched on.
    public static func isAcceptable(_ url: String) -> Bool {
        guard url.utf8.count <= bytesMax, url.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else { return false }
        if url.hasPrefix("https://") {
            return !authority(of: url.dropFirst("https://".count)).isEmpty
        }
        guard url.hasPrefix("http://") else { return false }
        let authority = authority(of: url.dropFirst("http://".count))
        if authority.hasPrefix("[::1]") { return isPort(authority.dropFirst("[::1]".count)) }
        let host = authority.prefix { $0 != ":" }
        guard isPort(authority.dropFirst(host.count)) else { return false }
        return host == "127.0.0.1" || host == "localhost" || (host.hasSuffix(".test") && !host.hasPrefix("."))
    }

    /// Whether this is nothing, or a colon and digits.
    private static func isPort(_ rest: Substring) -> Bool {
        rest.isEmpty || (rest.first == ":" && rest.dropFirst().utf8.allSatisfy { 48...57 ~= $0 })
    }

    /// What stands before the path; empty if it holds user information, which would disguise the host.
    private static func authority(of rest: Substring) -> Substring {
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return authority.contains("@") || authority.contains("\\") ? "" : authority
    }
}
