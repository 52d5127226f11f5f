import IdentityDomain
import JOSE
import ServiceKit

/// Reads which providers there are: the built-in ones by their keys, the others from a JSON file.
enum ProviderSettings {
    static func read(_ configuration: Configuration, _ faults: inout [ConfigurationFault]) -> [ProviderPolicy] {
        let faultsBefore = faults.count
        var known = readFile(configuration[IdentityKeys.providersFile], &faults)
        let isFileAtFault = faults.count > faultsBefore
        let wanted = configuration[IdentityKeys.providers]
        if known[.apple] == nil, wanted.contains(ProviderName.apple.value) {
            known[.apple] = builtIn(IdentityKeys.appleKeysURL.name, &faults) { () throws(ProviderPolicyFault) in
                try .apple(
                    audiences: configuration[IdentityKeys.appleAudiences],
                    keysURL: configuration[IdentityKeys.appleKeysURL]
                )
            }
        }
        if known[.google] == nil, wanted.contains(ProviderName.google.value) {
            known[.google] = builtIn(IdentityKeys.googleKeysURL.name, &faults) { () throws(ProviderPolicyFault) in
                try .google(
                    audiences: configuration[IdentityKeys.googleAudiences],
                    keysURL: configuration[IdentityKeys.googleKeysURL]
                )
            }
        }
        return wanted.compactMap { text in
            let name = ProviderName(text)
            if let policy = name.flatMap({ known[$0] }) { return policy }
            // One that is at fault itself, or may be in the part of the file that was not understood, is reported.
            if name != .apple, name != .google, !isFileAtFault {
                faults.append(
                    ConfigurationFault(
                        key: IdentityKeys.providers.name,
                        problem: "names a provider that is neither built in nor in the providers file"
                    )
                )
            }
            return nil
        }
    }

    private static func builtIn(
        _ key: String,
        _ faults: inout [ConfigurationFault],
        _ make: () throws(ProviderPolicyFault) -> ProviderPolicy
    ) -> ProviderPolicy? {
        do {
            return try make()
        } catch {
            faults.append(ConfigurationFault(key: key, problem: error.description))
            return nil
        }
    }

    private static func readFile(
        _ content: Secret?,
        _ faults: inout [ConfigurationFault]
    ) -> [ProviderName: ProviderPolicy] {
        guard let content else { return [:] }
        let key = IdentityKeys.providersFile.name
        guard let object = try? JSONObject(parsing: content.bytes), let elements = object["providers"]?.array else {
            faults.append(ConfigurationFault(key: key, problem: "holds no JSON object with an array \"providers\""))
            return [:]
        }
        var policies: [ProviderName: ProviderPolicy] = [:]
        for (index, element) in elements.enumerated() {
            do throws(ProviderEntry.Fault) {
                let policy = try ProviderEntry(element).policy()
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
        "name", "issuers", "audiences", "keys_url", "algorithms", "nonce", "nonce_required", "token_age_max_seconds",
        "clock_leeway_seconds",
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
        guard let nonce = NoncePolicy(rawValue: object["nonce"]?.string ?? (object["nonce"] == nil ? "raw" : "")) else {
            throw Fault(problem: "\"nonce\" must be raw, sha256 or either")
        }
        guard let isNonceRequired = (object["nonce_required"] ?? true).bool else {
            throw Fault(problem: "\"nonce_required\" must be true or false")
        }
        let issuers = try texts("issuers")
        let audiences = try texts("audiences")
        do throws(ProviderPolicyFault) {
            return try ProviderPolicy(
                name: name,
                issuers: issuers,
                audiences: audiences,
                algorithms: algorithms,
                keysURL: object["keys_url"]?.string ?? "",
                noncePolicy: nonce,
                isNonceRequired: isNonceRequired,
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
