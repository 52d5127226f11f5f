import IdentityDomain
import JOSE
import ServiceKit

/// Apple and Google by variables alone, for the simple case: apps that prove themselves by the nonce. A provider in the file
/// replaces its variables.
struct ProviderVariables {
    private let configuration: Configuration
    private let rules: ProviderRules
    private let findings: ProviderFindings
    private let inFile: Set<ProviderName>

    init(
        _ configuration: Configuration,
        _ rules: ProviderRules,
        _ findings: ProviderFindings,
        inFile: Set<ProviderName>
    ) {
        self.configuration = configuration
        self.rules = rules
        self.findings = findings
        self.inFile = inFile
    }

    /// The providers whose audiences are set and that are not in the file.
    func read() -> [ProviderConfiguration] {
        let appleKeys = [
            IdentityKeys.appleTeamID.name, IdentityKeys.appleKeyID.name, IdentityKeys.applePrivateKey.name,
        ]
        let apple = provider(
            .apple,
            kind: .native,
            audiences: IdentityKeys.appleAudiences,
            keysURL: IdentityKeys.appleKeysURL,
            others: appleKeys
        ) { appleCredential() }
        let google = provider(
            .google,
            kind: .web,
            audiences: IdentityKeys.googleAudiences,
            keysURL: IdentityKeys.googleKeysURL
        ) { nil }
        return [apple, google].compactMap { $0 }
    }

    private func provider(
        _ name: ProviderName,
        kind: AudiencePolicy.Kind,
        audiences: ConfigurationKey<[String]?>,
        keysURL: ConfigurationKey<String>,
        others: [String] = [],
        credential: () -> ClientCredential?
    ) -> ProviderConfiguration? {
        let given = ([audiences.name, keysURL.name] + others).filter(configuration.isGiven)
        if inFile.contains(name) {
            for key in given { findings.hint(key, "has no effect, since the providers file has \(name)") }
            return nil
        }
        guard let ids = configuration[audiences] else {
            for key in given where others.contains(key) {
                findings.hint(key, "has no effect without \(audiences.name)")
            }
            return nil
        }
        let faultCount = findings.faults.count
        var seen: Set<String> = []
        for id in ids {
            let quoted = ProviderFindings.quoted(id)
            if let problem = rules.problem(ofAudience: id) {
                findings.fault(audiences.name, "holds \(quoted), which \(problem)")
            }
            if !seen.insert(id).inserted { findings.fault(audiences.name, "holds \(quoted) twice") }
        }
        let url = configuration[keysURL]
        if let problem = rules.problem(ofURL: url) { findings.fault(keysURL.name, problem) }
        let credential = credential()
        guard findings.faults.count == faultCount else { return nil }
        let builtIn = BuiltInProvider(name)
        do throws(ProviderPolicyError) {
            return ProviderConfiguration(
                policy: try ProviderPolicy(
                    name: name,
                    issuers: builtIn.issuers,
                    audiences: ids.map { AudiencePolicy(id: $0, kind: kind, match: builtIn.match) },
                    keysURL: url
                ),
                endpoints: builtIn.endpoints,
                credentials: credential.map { credential in
                    Dictionary(uniqueKeysWithValues: ids.map { ($0, credential) })
                } ?? [:]
            )
        } catch {
            findings.fault(audiences.name, error.description)
            return nil
        }
    }

    /// One key for all apps of one team.
    private func appleCredential() -> ClientCredential? {
        let (teamID, keyID) = (configuration[IdentityKeys.appleTeamID], configuration[IdentityKeys.appleKeyID])
        let pem = configuration[IdentityKeys.applePrivateKey]
        if teamID == nil, keyID == nil, pem == nil { return nil }
        let isMissing = [
            (IdentityKeys.appleTeamID.name, teamID == nil), (IdentityKeys.appleKeyID.name, keyID == nil),
            (IdentityKeys.applePrivateKey.name, pem == nil),
        ]
        for (name, isMissing) in isMissing where isMissing {
            findings.fault(name, "is required: a key of Apple's is a team id, a key id and a private key")
        }
        if let problem = teamID.flatMap(rules.problem(ofTeamID:)) {
            findings.fault(IdentityKeys.appleTeamID.name, problem)
        }
        if let problem = keyID.flatMap(rules.problem(ofKeyID:)) {
            findings.fault(IdentityKeys.appleKeyID.name, problem)
        }
        guard let teamID, let keyID, let pem else { return nil }
        guard let key = AppleKey.signingKey(pem, keyID: keyID) else {
            findings.fault(IdentityKeys.applePrivateKey.name, AppleKey.problem)
            return nil
        }
        return .apple(teamID: teamID, keyID: keyID, key: key)
    }
}
