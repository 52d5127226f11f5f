import IdentityDomain
import JOSE
import ServiceKit

/// Reads which providers there are: the built-in ones by their keys, the others from a JSON file.
enum ProviderSettings {
    static func read(_ configuration: Configuration, _ faults: inout [ConfigurationFault]) -> [ProviderConfiguration] {
        let faultsBefore = faults.count
        var known = readFile(configuration, &faults)
        let isFileAtFault = faults.count > faultsBefore
        for (name, policy) in builtIn(configuration, &faults) where known[name] == nil { known[name] = policy }
        guard let wanted = configuration[IdentityKeys.providers] else {
            // What may be in the part that was not understood is not missed.
            if known.isEmpty, faults.count == faultsBefore { faults.append(noProvider) }
            return known.values.sorted { $0.name < $1.name }.map { ProviderConfiguration(policy: $0) }
        }
        return wanted.compactMap { text in
            let name = ProviderName(text)
            if let policy = name.flatMap({ known[$0] }) { return ProviderConfiguration(policy: policy) }
            // One that is at fault itself, or may be in the part of the file that was not understood, is reported.
            let problem: String? =
                switch name {
                case .apple: missing("apple", configuration, IdentityKeys.appleAudiences)
                case .google: missing("google", configuration, IdentityKeys.googleAudiences)
                default: isFileAtFault ? nil : "names a provider that is neither built in nor in the providers file"
                }
            if let problem { faults.append(ConfigurationFault(key: IdentityKeys.providers.name, problem: problem)) }
            return nil
        }
    }

    private static var noProvider: ConfigurationFault {
        ConfigurationFault(
            key: IdentityKeys.appleAudiences.name,
            problem:
                "or \(IdentityKeys.googleAudiences.name) or \(IdentityKeys.providersFile.name) is required: without "
                + "a provider nobody can sign in. They are the ids of your own apps, such as com.example.app"
        )
    }

    private static func missing(
        _ name: String,
        _ configuration: Configuration,
        _ audiences: ConfigurationKey<[String]?>
    ) -> String? {
        configuration[audiences] == nil ? "names \(name), but \(audiences.name) is not given" : nil
    }

    /// Apple and Google, if our ids there are given.
    private static func builtIn(
        _ configuration: Configuration,
        _ faults: inout [ConfigurationFault]
    ) -> [ProviderName: ProviderPolicy] {
        var policies: [ProviderName: ProviderPolicy] = [:]
        if let audiences = configuration[IdentityKeys.appleAudiences] {
            let url = configuration[IdentityKeys.appleKeysURL]
            policies[.apple] = policy(configuration, IdentityKeys.appleKeysURL.name, &faults) {
                () throws(ProviderPolicyFault) in
                try .apple(
                    audiences: audiences.map { AudiencePolicy(id: $0, match: .sha256) },
                    keysURL: url
                )
            }
        }
        if let audiences = configuration[IdentityKeys.googleAudiences] {
            let url = configuration[IdentityKeys.googleKeysURL]
            policies[.google] = policy(configuration, IdentityKeys.googleKeysURL.name, &faults) {
                () throws(ProviderPolicyFault) in
                try .google(
                    audiences: audiences.map { AudiencePolicy(id: $0, kind: .web, match: .either) },
                    keysURL: url
                )
            }
        }
        return policies
    }

    private static func policy(
        _ configuration: Configuration,
        _ key: String,
        _ faults: inout [ConfigurationFault],
        _ make: () throws(ProviderPolicyFault) -> ProviderPolicy
    ) -> ProviderPolicy? {
        do {
            let policy = try make()
            if let problem = keysURLProblem(policy, configuration) {
                faults.append(ConfigurationFault(key: key, problem: problem))
            }
            return policy
        } catch {
            faults.append(ConfigurationFault(key: key, problem: error.description))
            return nil
        }
    }

    /// Why the provider's keys may not be fetched by `http` here; nil if they may, or are fetched by TLS.
    private static func keysURLProblem(_ policy: ProviderPolicy, _ configuration: Configuration) -> String? {
        if KeysURL.isEncrypted(policy.keysURL) { return nil }
        guard configuration[IdentityKeys.keysByHTTP] else {
            return "must be an https URL, unless \(IdentityKeys.keysByHTTP.name) is true, for development"
        }
        if KeysURL.isLocal(policy.keysURL) || configuration[IdentityKeys.issuer]?.hasPrefix("https://") != true {
            return nil
        }
        return
            "must be an https URL, or stay on this machine, while the issuer is an https URL: whoever answers to the "
            + "name could sign in as anybody"
    }

    private static func readFile(
        _ configuration: Configuration,
        _ faults: inout [ConfigurationFault]
    ) -> [ProviderName: ProviderPolicy] {
        guard let content = configuration[IdentityKeys.providersFile] else { return [:] }
        let key = IdentityKeys.providersFile.name
        guard let object = try? JSONObject(parsing: content.bytes), let elements = object["providers"]?.array else {
            faults.append(ConfigurationFault(key: key, problem: "holds no JSON object with an array \"providers\""))
            return [:]
        }
        var policies: [ProviderName: ProviderPolicy] = [:]
        for (index, element) in elements.enumerated() {
            do throws(ProviderEntry.Fault) {
                let policy = try ProviderEntry(element).policy()
                if let problem = keysURLProblem(policy, configuration) {
                    throw ProviderEntry.Fault(problem: "\"keys_url\" \(problem)")
                }
                guard policies.updateValue(policy, forKey: policy.name) == nil else {
                    throw ProviderEntry.Fault(problem: "repeats the name of another one")
                }
            } catch {
                faults.append(ConfigurationFault(key: key, problem: "provider \(index + 1): \(error.problem)"))
            }
        }
        return policies
    }
}

/// One provider of the file.
private struct ProviderEntry {
    struct Fault: Error {
        let problem: String
    }

    private static let members: Set<String> = [
        "name", "issuers", "issuer_aliases", "audiences", "keys_url", "algorithms", "nonce", "nonce_required",
        "token_age_max_seconds", "clock_leeway_seconds",
    ]

    private let object: JSONObject

    init(_ element: JSONValue) throws(Fault) {
        guard let object = element.object else { throw Fault(problem: "is no object") }
        if let stranger = object.members.first(where: { !Self.members.contains($0.name) }) {
            throw Fault(problem: "has an unknown member \"\(stranger.name.prefix(40))\"")
        }
        self.object = object
    }

    func policy() throws(Fault) -> ProviderPolicy {
        guard let name = object["name"]?.string.flatMap({ ProviderName($0) }) else {
            throw Fault(problem: "\"name\" must be lowercase letters, digits, _ and -, beginning with a letter")
        }
        var algorithms: [SignatureAlgorithm] = []
        for text in try texts("algorithms", default: ["RS256"]) {
            guard let algorithm = SignatureAlgorithm(rawValue: text) else {
                let known = SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
                throw Fault(problem: "\"algorithms\" may hold \(known)")
            }
            algorithms.append(algorithm)
        }
        guard let nonce = NonceMatch(rawValue: object["nonce"]?.string ?? (object["nonce"] == nil ? "raw" : "")) else {
            throw Fault(problem: "\"nonce\" must be raw, sha256 or either")
        }
        guard let isNonceRequired = (object["nonce_required"] ?? true).bool else {
            throw Fault(problem: "\"nonce_required\" must be true or false")
        }
        let issuers = try texts("issuers")
        guard issuers.count <= 1 else {
            // Two tenants may each have a person of one subject, and accounts are kept by provider and subject.
            throw Fault(
                problem:
                    "\"issuers\" may hold one: what is another spelling of it belongs into \"issuer_aliases\", and "
                    + "what issues subjects of its own is another provider"
            )
        }
        let aliases = try texts("issuer_aliases")
        let audiences = try texts("audiences")
        do throws(ProviderPolicyFault) {
            return try ProviderPolicy(
                name: name,
                issuers: issuers.isEmpty ? [] : issuers + aliases,
                audiences: audiences.map {
                    AudiencePolicy(
                        id: $0,
                        match: nonce,
                        nonce: isNonceRequired ? .required : .optional,
                        withoutNonce: isNonceRequired ? .refuse : .fresh
                    )
                },
                algorithms: algorithms,
                keysURL: object["keys_url"]?.string ?? "",
                clockLeewaySeconds: object["clock_leeway_seconds"].map { $0.integer ?? -1 } ?? 60,
                tokenAgeSecondsMax: object["token_age_max_seconds"].map { $0.integer ?? -1 } ?? 86_400
            )
        } catch {
            throw Fault(problem: error.description)
        }
    }

    private func texts(_ name: String, default: [String] = []) throws(Fault) -> [String] {
        guard let value = object[name] else { return `default` }
        guard let elements = value.array else { throw Fault(problem: "\"\(name)\" must be an array of texts") }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else { throw Fault(problem: "\"\(name)\" must be an array of texts") }
        return texts
    }
}
