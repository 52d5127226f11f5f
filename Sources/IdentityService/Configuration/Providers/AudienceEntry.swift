import IdentityDomain
import JOSE
import ServiceKit

/// One audience of the providers file.
struct AudienceEntry {
    /// The requirements for its tokens.
    let policy: AudiencePolicy
    /// Its credential at the provider.
    let credential: ClientCredential?

    /// The maximum size of the file of a private key, and of a client secret, in bytes.
    static let keyBytesMax = 16_384
    static let secretBytesMax = 4096

    /// The members that an audience may have.
    static let members: Set<String> = [
        "id", "kind", "match", "nonce", "without_nonce", "access_token_lifetime_seconds", "id_token", "dpop",
        "apple_key", "client_secret_file",
    ]

    /// The default values of an audience: from its provider's name, or from former members of its provider.
    struct Defaults {
        var match: NonceMatch
        var nonce: AudiencePolicy.Nonce = .required
        var withoutNonce: AudiencePolicy.WithoutNonce = .refuse
    }

    /// An audience with nothing but its id.
    init(id: String, defaults: Defaults) {
        policy = AudiencePolicy(
            id: id,
            match: defaults.match,
            nonce: defaults.nonce,
            withoutNonce: defaults.withoutNonce
        )
        credential = nil
    }

    /// Reads an audience; nil if it has any error.
    init?(
        _ entry: EntryReader,
        id: String,
        provider: ProviderName,
        defaults: Defaults,
        file: ConfiguredFile,
        rules: ProviderRules
    ) {
        let faultCount = entry.findings.faults.count
        entry.expect(Self.members)
        let kind = entry.choice("kind", default: AudiencePolicy.Kind.native)
        let match = entry.choice("match", default: defaults.match)
        let nonce = entry.choice("nonce", default: defaults.nonce)
        // The default from a former `nonce_required` doesn't apply if the audience has its own `nonce`.
        let withoutNonce = entry.choice(
            "without_nonce",
            default: entry.has("nonce") ? .refuse : defaults.withoutNonce
        )
        let lifetime = entry.seconds(
            "access_token_lifetime_seconds",
            in: AudiencePolicy.accessTokenSecondsRange,
            default: nil
        )
        // The default is true, since some apps from before this setting read the ID token.
        let hasIDToken = entry.bool("id_token", default: true)
        let requiresKey = entry.bool("dpop", default: false)
        if kind == .services, provider != .apple {
            entry.fault("\"kind\" services is a Services ID of Apple; another provider's client of a website is web")
        }
        credential = Self.credential(entry, provider: provider, file: file, rules: rules)
        if let nonce, let withoutNonce { Self.check(nonce, withoutNonce, entry) }
        guard entry.findings.faults.count == faultCount, let kind, let match, let nonce, let withoutNonce,
            let hasIDToken, let requiresKey
        else { return nil }
        policy = AudiencePolicy(
            id: id,
            kind: kind,
            match: match,
            nonce: nonce,
            withoutNonce: withoutNonce,
            accessTokenSeconds: lifetime,
            hasIDToken: hasIDToken,
            requiresKey: requiresKey
        )
    }

    private static func check(
        _ nonce: AudiencePolicy.Nonce,
        _ withoutNonce: AudiencePolicy.WithoutNonce,
        _ entry: EntryReader
    ) {
        switch (nonce, withoutNonce) {
        case (.required, .code), (.required, .fresh), (.server, .code), (.server, .fresh):
            entry.fault(
                "\"without_nonce\" \(withoutNonce.rawValue) contradicts \"nonce\" \(nonce.rawValue), which takes no token without "
                    + "a proven nonce; say optional or unknown"
            )
        case (.optional, .refuse), (.unknown, .refuse):
            entry.hint(
                "\"nonce\" \(nonce.rawValue) comes to the same as required, while \"without_nonce\" is refuse"
            )
        case (.optional, .code), (.unknown, .code):
            if !entry.has("apple_key"), !entry.has("client_secret_file") {
                entry.fault(
                    "\"without_nonce\" code needs \"apple_key\" or \"client_secret_file\", without which no code can be "
                        + "exchanged"
                )
            }
        case (.required, .refuse), (.server, .refuse), (.optional, .fresh), (.unknown, .fresh): break
        }
    }

    private static func credential(
        _ entry: EntryReader,
        provider: ProviderName,
        file: ConfiguredFile,
        rules: ProviderRules
    ) -> ClientCredential? {
        if provider == .apple, entry.has("client_secret_file") {
            entry.fault("\"client_secret_file\" has no use at Apple, where \"apple_key\" signs a secret for each call")
        }
        if provider != .apple, entry.has("apple_key") { entry.fault("\"apple_key\" has a use at Apple only") }
        if entry.has("apple_key") {
            return appleKey(entry, file: file, rules: rules)
        }
        guard let secret = entry.secret("client_secret_file", in: file, bytesMax: secretBytesMax) else { return nil }
        // Editors and `echo` end files with a line end that isn't part of the secret.
        let bytes = secret.bytes.reversed().drop { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.reversed()
        guard !bytes.isEmpty, bytes.allSatisfy({ 0x21...0x7e ~= $0 }) else {
            entry.fault("\"client_secret_file\" must hold visible ASCII characters in one line")
            return nil
        }
        return .secret(Secret(Array(bytes)))
    }

    private static func appleKey(
        _ entry: EntryReader,
        file: ConfiguredFile,
        rules: ProviderRules
    ) -> ClientCredential? {
        guard let object = entry.object["apple_key"]?.object else {
            entry.fault("\"apple_key\" must be an object")
            return nil
        }
        let key = EntryReader(object: object, place: "\(entry.place), apple_key", findings: entry.findings)
        key.expect(["team_id", "key_id", "private_key_file"])
        for name in ["team_id", "key_id", "private_key_file"] where !key.has(name) {
            key.fault("\"\(name)\" is required")
        }
        let (teamID, keyID) = (key.text("team_id"), key.text("key_id"))
        if let problem = teamID.flatMap(rules.problem(ofTeamID:)) { key.fault("\"team_id\" \(problem)") }
        if let problem = keyID.flatMap(rules.problem(ofKeyID:)) { key.fault("\"key_id\" \(problem)") }
        guard let pem = key.secret("private_key_file", in: file, bytesMax: keyBytesMax) else { return nil }
        guard let teamID, let keyID else { return nil }
        guard let signing = AppleKey.signingKey(pem, keyID: keyID) else {
            key.fault("\"private_key_file\" \(AppleKey.problem)")
            return nil
        }
        return .apple(teamID: teamID, keyID: keyID, key: signing)
    }
}

/// The private key with which a developer team signs client secrets for Apple.
enum AppleKey {
    /// The error for a file without a valid key.
    static let problem = "must hold the private key that Apple gave (.p8): P-256, in PEM, without a password"

    /// The key, if the text contains a valid one.
    static func signingKey(_ pem: Secret, keyID: String) -> SigningKey? {
        guard let key = try? SigningKey(pem: pem.text, keyID: keyID), key.algorithm == .es256 else { return nil }
        return key
    }
}
