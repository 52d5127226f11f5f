import IdentityDomain
import JOSE
import Models
import ServiceKit

/// One provider of the providers file.
struct ProviderEntry {
    /// The members that a provider may have, including former ones.
    static let members: Set<String> = [
        "name", "issuers", "issuer_aliases", "audiences", "keys_url", "authorization_url", "token_url",
        "revocation_url", "user_migration_url",
        "debug_token_url", "token_info_url", "user_info_url", "algorithms", "access_tokens", "token_age_max_seconds",
        "clock_leeway_seconds", "phone_trusted", "display_name", Former.match, Former.isRequired,
    ]

    /// Former members, which are members of audiences now.
    private enum Former {
        static let match = "nonce"
        static let isRequired = "nonce_required"
    }

    private let entry: EntryReader
    private let name: ProviderName
    private let file: ConfiguredFile
    private let rules: ProviderRules
    private let builtIn: BuiltInProvider

    init(
        _ object: JSONObject,
        name: ProviderName,
        file: ConfiguredFile,
        rules: ProviderRules,
        _ findings: ProviderFindings
    ) {
        entry = EntryReader(object: object, place: "provider \"\(name)\"", findings: findings)
        self.name = name
        self.file = file
        self.rules = rules
        builtIn = BuiltInProvider(name)
    }

    /// Reads the provider; nil if it has any error.
    func read() -> ProviderConfiguration? {
        let faultCount = entry.findings.faults.count
        entry.expect(Self.members)
        let issuers = issuers()
        let algorithms = algorithms()
        let leeway = entry.seconds("clock_leeway_seconds", in: 0...600, default: 60)
        let age = entry.seconds("token_age_max_seconds", in: 60...604_800, default: 86_400)
        let isTrustedForPhones = entry.bool("phone_trusted", default: false)
        let keysURL = url("keys_url", default: builtIn.keysURL)
        if keysURL == nil, !entry.has("keys_url") { entry.fault("\"keys_url\" is required") }
        let displayName = displayName()
        let endpoints = endpoints()
        let accessTokens = accessTokens(endpoints)
        let audiences = audiences()
        check(audiences, endpoints, accessTokens)
        guard entry.findings.faults.count == faultCount, let leeway, let age, let keysURL,
            let isTrustedForPhones
        else { return nil }
        do throws(ProviderPolicyError) {
            return ProviderConfiguration(
                policy: try ProviderPolicy(
                    name: name,
                    issuers: issuers,
                    audiences: audiences.map(\.policy),
                    algorithms: algorithms,
                    keysURL: keysURL,
                    clockLeewaySeconds: leeway,
                    tokenAgeSecondsMax: age,
                    isTrustedForPhones: isTrustedForPhones
                ),
                endpoints: endpoints,
                credentials: Dictionary(
                    audiences.compactMap { audience in audience.credential.map { (audience.policy.id, $0) } },
                    uniquingKeysWith: { first, _ in first }
                ),
                accessTokens: accessTokens,
                displayName: displayName
            )
        } catch {
            entry.fault(error.description)
            return nil
        }
    }

    /// The name for users; nil for a provider without one. The buttons of well-known providers follow those providers' guidelines.
    private func displayName() -> String? {
        guard let text = entry.text("display_name", bytesMax: DisplayName.bytesMax) else { return nil }
        if [ProviderName.apple, .google, .facebook].contains(name) {
            entry.fault("\"display_name\" has no use at this provider, whose guidelines say how it is named")
        }
        do throws(TextError) {
            return try DisplayName(text).value
        } catch {
            entry.fault(
                "\"display_name\" must be \(DisplayName.charactersMin) to \(DisplayName.charactersMax) characters that can be seen"
            )
            return nil
        }
    }

    private func issuers() -> [String] {
        let issuers = entry.texts("issuers", countMax: ProviderPolicy.namesMax) ?? []
        let aliases = entry.texts("issuer_aliases", countMax: ProviderPolicy.namesMax - 1) ?? []
        if issuers.count > 1 {
            // Two tenants may each have a user with the same subject, and accounts are stored by provider and subject.
            entry.fault(
                "\"issuers\" may hold one: what is another spelling of it belongs into \"issuer_aliases\", and what issues "
                    + "subjects of its own is another provider"
            )
        } else if issuers.isEmpty, builtIn.issuers.isEmpty {
            entry.fault("\"issuers\" is required, with one issuer")
        }
        return (issuers.isEmpty ? builtIn.issuers : issuers) + aliases
    }

    private func algorithms() -> [SignatureAlgorithm] {
        guard let texts = entry.texts("algorithms", countMax: SignatureAlgorithm.allCases.count) else {
            return [.rs256]
        }
        let algorithms = texts.compactMap(SignatureAlgorithm.init(rawValue:))
        if algorithms.isEmpty || algorithms.count != texts.count {
            let known = SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
            entry.fault("\"algorithms\" must hold one or several of \(known)")
        }
        return algorithms
    }

    private func url(_ member: String, default: String?) -> String? {
        guard entry.has(member) else { return `default` }
        guard let url = entry.text(member, bytesMax: ProviderURL.bytesMax) else { return nil }
        if let problem = rules.problem(ofURL: url) { entry.fault("\"\(member)\" \(problem)") }
        return url
    }

    private func endpoints() -> ProviderEndpoints {
        let known = builtIn.endpoints
        let endpoints = ProviderEndpoints(
            authorizationURL: url("authorization_url", default: known.authorizationURL),
            tokenURL: url("token_url", default: known.tokenURL),
            revocationURL: url("revocation_url", default: known.revocationURL),
            userMigrationURL: url("user_migration_url", default: known.userMigrationURL),
            debugTokenURL: url("debug_token_url", default: known.debugTokenURL),
            tokenInfoURL: url("token_info_url", default: known.tokenInfoURL),
            userInfoURL: url("user_info_url", default: known.userInfoURL)
        )
        if name != .apple, entry.has("user_migration_url") {
            entry.fault("\"user_migration_url\" has a use at Apple only")
        }
        let queried = [
            "debug_token_url": endpoints.debugTokenURL, "token_info_url": endpoints.tokenInfoURL,
            "user_info_url": endpoints.userInfoURL,
        ]
        for (member, url) in queried.sorted(by: { $0.key < $1.key }) where url?.contains("?") == true {
            entry.fault("\"\(member)\" must be without a query: what is asked is added to it")
        }
        return endpoints
    }

    private func accessTokens(_ endpoints: ProviderEndpoints) -> AccessTokenKind? {
        guard let value = entry.object["access_tokens"] else { return nil }
        guard let kind = value.string.flatMap(AccessTokenKind.init(rawValue:)) else {
            let kinds = AccessTokenKind.allCases.map(\.rawValue).joined(separator: ", ")
            entry.fault("\"access_tokens\" must be one of \(kinds)")
            return nil
        }
        if let own = builtIn.accessTokens, own != kind {
            entry.fault("\"access_tokens\" must be \(own.rawValue) at this provider")
        } else if name == .apple {
            entry.fault("\"access_tokens\" has no use at Apple, whose access tokens name nobody")
        }
        let needed =
            switch kind {
            case .facebook: ["debug_token_url": endpoints.debugTokenURL, "user_info_url": endpoints.userInfoURL]
            case .google: ["token_info_url": endpoints.tokenInfoURL, "user_info_url": endpoints.userInfoURL]
            }
        for (member, url) in needed.sorted(by: { $0.key < $1.key }) where url == nil && !entry.has(member) {
            entry.fault("\"access_tokens\" \(kind.rawValue) needs \"\(member)\"")
        }
        return kind
    }

    /// The defaults for audiences.
    private func defaults() -> AudienceEntry.Defaults {
        var defaults = AudienceEntry.Defaults(match: builtIn.match)
        if entry.has(Former.match) {
            if let match = entry.choice(Former.match, default: builtIn.match) { defaults.match = match }
            entry.hint("\"nonce\" is a former member: give each audience a \"match\"")
        }
        if entry.has(Former.isRequired) {
            entry.hint(
                "\"nonce_required\" is a former member: give each audience a \"nonce\" and a \"without_nonce\". Until then "
                    + "false means optional and fresh, so that a token without a nonce must be young"
            )
            if entry.bool(Former.isRequired, default: true) == false {
                defaults.nonce = .optional
                defaults.withoutNonce = .fresh
            }
        }
        return defaults
    }

    private func audiences() -> [AudienceEntry] {
        let defaults = defaults()
        guard let elements = entry.object["audiences"]?.array, 1...ProviderPolicy.namesMax ~= elements.count else {
            entry.fault("\"audiences\" must be an array of 1 to \(ProviderPolicy.namesMax) audiences")
            return []
        }
        if elements.contains(where: { $0.string != nil }) {
            entry.hint("\"audiences\" holds plain texts, the former way: write {\"id\": …}")
        }
        var ids: Set<String> = []
        return elements.enumerated().compactMap { index, element in
            guard let id = element.string ?? element.object?["id"]?.string else {
                entry.fault("audience \(index + 1) must be an object with a text \"id\"")
                return nil
            }
            let place = "\(entry.place), audience \(ProviderFindings.quoted(id))"
            let audience = EntryReader(object: element.object ?? JSONObject(), place: place, findings: entry.findings)
            if let problem = rules.problem(ofAudience: id) { audience.fault("\"id\" \(problem)") }
            if !ids.insert(id).inserted { audience.fault("is there twice") }
            if element.string != nil { return AudienceEntry(id: id, defaults: defaults) }
            return AudienceEntry(audience, id: id, provider: name, defaults: defaults, file: file, rules: rules)
        }
    }

    /// Reports what audiences require and the provider doesn't have.
    private func check(_ audiences: [AudienceEntry], _ endpoints: ProviderEndpoints, _ accessTokens: AccessTokenKind?) {
        for audience in audiences {
            let place = "audience \(ProviderFindings.quoted(audience.policy.id))"
            if accessTokens == .facebook, audience.credential == nil {
                entry.fault(
                    "\(place) needs \"client_secret_file\", since \"access_tokens\" is facebook: it is asked for whom a "
                        + "token was issued in the app's own name"
                )
            }
            if audience.policy.withoutNonce == .code, endpoints.tokenURL == nil, !entry.has("token_url") {
                entry.fault("\(place) needs \"token_url\", since its \"without_nonce\" is code")
            }
        }
    }
}
