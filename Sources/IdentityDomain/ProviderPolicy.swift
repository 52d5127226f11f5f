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
    /// Whether it is believed when it says that a phone number is the person's.
    public let isTrustedForPhones: Bool

    /// The most spellings of the issuer, and the most audiences.
    public static let namesMax = 64

    /// A provider; throws what is wrong with it, in words for operators.
    public init(
        name: ProviderName,
        issuers: [String],
        audiences: [AudiencePolicy],
        algorithms: [SignatureAlgorithm] = [.rs256],
        keysURL: String,
        clockLeewaySeconds: Int64 = 60,
        tokenAgeSecondsMax: Int64 = 86_400,
        isTrustedForPhones: Bool = false
    ) throws(ProviderPolicyError) {
        guard 1...Self.namesMax ~= issuers.count, issuers.allSatisfy({ !$0.isEmpty }) else { throw .issuers }
        guard 1...Self.namesMax ~= audiences.count, audiences.allSatisfy({ !$0.id.isEmpty }) else { throw .audiences }
        let byID = Dictionary(audiences.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        guard byID.count == audiences.count else { throw .audiences }
        guard !algorithms.isEmpty else { throw .algorithms }
        guard ProviderURL.isAcceptable(keysURL) else { throw .keysURL }
        guard 0...600 ~= clockLeewaySeconds, 60...604_800 ~= tokenAgeSecondsMax else { throw .times }
        self.name = name
        self.issuers = Set(issuers)
        self.audiences = byID
        self.algorithms = Set(algorithms)
        self.keysURL = keysURL
        self.clockLeewaySeconds = clockLeewaySeconds
        self.tokenAgeSecondsMax = tokenAgeSecondsMax
        self.isTrustedForPhones = isTrustedForPhones
    }
}

/// What is wrong with a provider's configuration.
public enum ProviderPolicyError: Error, Sendable, Hashable, CustomStringConvertible {
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
