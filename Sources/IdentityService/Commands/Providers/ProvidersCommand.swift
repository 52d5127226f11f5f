import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import RPCTransport
import ServiceKit

/// `providers`: writes and judges the providers file, and tries it against the providers.
public struct ProvidersCommand: Sendable {
    private let place: CommandPlace
    private let file: EntryFile
    private let judge: ProvidersJudge

    /// A command on a file.
    ///
    /// - Parameters:
    ///   - path: the file; nil for the one that the configuration names.
    ///   - configurationPath: the configuration file; nil to use VESTIBULE_CONFIG.
    ///   - environment: the process's variables.
    public init(path: String?, configurationPath: String?, environment: [String: String]) throws(CommandError) {
        place = try CommandPlace(
            path: path,
            key: IdentityKeys.providersFile.name,
            configurationPath: configurationPath,
            environment: environment
        )
        file = try EntryFile(place.path, .providers)
        judge = try ProvidersJudge(place)
    }

    /// Adds a provider, after its credentials were tried.
    ///
    /// - Parameters:
    ///   - kind: what provider it is.
    ///   - answers: what is known of it, by the fields of its kind.
    ///   - replaces: whether it takes the place of a provider with the same name, as a whole.
    ///   - isOffline: whether the provider isn't asked.
    ///   - prompt: asks for what is missing; nil if nobody is at a terminal.
    public func add(
        _ kind: ProviderKind,
        _ answers: CommandAnswers,
        replaces: Bool,
        isOffline: Bool,
        prompt: TerminalPrompt?
    ) async throws(CommandError) -> CommandOutcome {
        let draft = ProviderDraft(kind: kind, path: place.path)
        let list = try soundList()
        try checkNew(draft.name(answers), in: list, replaces)
        // At once, and not after all questions.
        _ = try draft.entry(answers)
        let questionnaire = Questionnaire(fields: kind.fields, prompt: prompt) { answers in
            faults(of: answers, draft) + taken(draft.name(answers), in: list, replaces)
        }
        let known = try questionnaire.complete(answers)
        let name = draft.name(known)
        try checkNew(name, in: list, replaces)
        let secret = draft.typedSecret(known)
        let others = secret.map { [$0.path: $0.secret.bytes] } ?? [:]
        let (entry, findings) = try await tried(draft, known, list, others, isOffline: isOffline)
        try write(entry, secret, others) { list throws(CommandError) in try checkNew(name, in: list, replaces) }
        var outcome = CommandOutcome(output: findings.map(\.text))
        if let secret { outcome.remarks.append("wrote the secret to \(secret.path)") }
        if isOffline { outcome.remarks.append("the provider was not asked: nothing was tried") }
        outcome.remarks += ["\(list[name] == nil ? "added" : "replaced") \(name) in \(place.path)"] + place.remarks
        outcome.remarks += remarks(name, entry)
        return outcome
    }

    /// The providers in a table, a line for each audience.
    public func list() throws(CommandError) -> CommandOutcome {
        let rows = try providers().providers.flatMap { provider in
            provider.policy.audiences.values.sorted { $0.id < $1.id }.enumerated().map { index, audience in
                let credential =
                    switch provider.credentials[audience.id] {
                    case .apple(let teamID, let keyID, _): "key \(keyID) of team \(teamID)"
                    case .secret: "client secret"
                    case nil: "none"
                    }
                let issuer = provider.policy.issuers.sorted { $0.count > $1.count }.first ?? ""
                return (index == 0 ? [provider.policy.name.value, issuer] : ["", ""])
                    + [audience.id, audience.kind.rawValue, credential]
            }
        }
        return CommandOutcome(
            output: TextTable.lines([["provider", "issuer", "audience", "kind", "credential"]] + rows)
        )
    }

    /// What the file comes to, and what the providers say to it.
    ///
    /// - Throws: all its faults, or what the providers don't take.
    public func check(isOffline: Bool) async throws(CommandError) -> CommandOutcome {
        let (providers, hints) = try providers()
        let findings = isOffline ? [] : try await trial(providers)
        let faults = findings.filter(\.isFault).map(\.text)
        guard faults.isEmpty else { throw CommandError(lines: faults) }
        return CommandOutcome(
            output: providers.flatMap { ProviderReport($0).lines + [""] } + hints.map { "hint: \($0)" }
                + findings.map(\.text) + ["\(place.path): providers \(providers.count), faults 0"]
        )
    }

    /// What is left to do for a new provider.
    private func remarks(_ name: String, _ entry: JSONObject) -> [String] {
        var remarks: [String] = []
        let configuration = try? Configuration.load(
            only: [IdentityKeys.providers],
            path: place.configurationPath,
            environment: place.environment
        )
        if let wanted = configuration?[IdentityKeys.providers], !wanted.contains(name) {
            remarks.append("it is off, since \(IdentityKeys.providers.name) doesn't name it")
        }
        let isForBrowsers = entry["audiences"]?.array?.contains { $0.object?["kind"] != nil } ?? false
        if isForBrowsers, let issuer = judge.issuer {
            remarks.append("for the sign-in page, register \(issuer)/sign-in/\(name)/callback as a redirect URI there")
        }
        return remarks
    }

    // MARK: Trying

    /// The whole entry, once the judge has no fault of the file with it, and the provider takes it.
    private func tried(
        _ draft: ProviderDraft,
        _ answers: CommandAnswers,
        _ list: EntryList,
        _ others: [String: [UInt8]],
        isOffline: Bool
    ) async throws(CommandError) -> (JSONObject, [ProviderTrial.Finding]) {
        var discovered = ProviderDiscovery.Discovered()
        if !isOffline, let issuer = answers[ProviderKind.Flag.issuer] {
            let rules = try judge.rules()
            discovered = try await withHTTP { http throws(CommandError) in
                try await ProviderDiscovery(http: http, rules: rules).discover(issuer)
            }
        }
        let entry = try draft.entry(answers, discovered: discovered.members)
        var list = list
        list.put(entry)
        let providers = try judge.read(list.serialized, others: others).providers
        guard !isOffline else { return (entry, []) }
        let added = providers.filter { $0.policy.name.value == draft.name(answers) }
        var findings = try await trial(added)
        if discovered.takesSecretsInForms == false, added.contains(where: { !$0.credentials.isEmpty }) {
            let text =
                "\(draft.name(answers)): its document doesn't name client_secret_post, by which identity authenticates"
            findings.append(ProviderTrial.Finding(isFault: false, text: text))
        }
        guard findings.allSatisfy({ !$0.isFault }) else {
            throw CommandError(
                lines: findings.map(\.text) + [
                    "nothing was changed; with --offline it is written without asking the provider"
                ]
            )
        }
        return (entry, findings)
    }

    private func trial(_ providers: [ProviderConfiguration]) async throws(CommandError) -> [ProviderTrial.Finding] {
        let issuer = judge.issuer
        return try await withHTTP { http throws(CommandError) in
            var findings: [ProviderTrial.Finding] = []
            for provider in providers {
                let trial = ProviderTrial(
                    provider: provider,
                    http: http,
                    clock: .system,
                    redirectURI: Self.redirectURI(of: provider, issuer: issuer)
                )
                findings += await trial.run()
            }
            return findings
        }
    }

    /// Where the provider sends browsers back to. Apple needs none for a code of an app, and Google's word is that of its own popups.
    private static func redirectURI(of provider: ProviderConfiguration, issuer: String?) -> String {
        switch provider.policy.name {
        case .apple: ""
        case .google: "postmessage"
        case let name: "\(issuer ?? "https://localhost")/sign-in/\(name)/callback"
        }
    }

    private func withHTTP<Value: Sendable>(
        _ body: @Sendable (HTTPSClient) async throws(CommandError) -> Value
    ) async throws(CommandError) -> Value {
        do {
            let proxies = IdentityKeys.proxies(
                try Configuration.load(
                    only: IdentityKeys.proxyKeys,
                    path: place.configurationPath,
                    environment: place.environment
                )
            )
            return try await withEventLoopGroup(loopCount: 1, name: "providers") { group in
                try await body(HTTPSClient(userAgent: "vestibule-identity", group: group, proxies: proxies))
            }
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError("\(error)")
        }
    }

    // MARK: The file

    /// Writes the secret that was typed, and then the file; neither if the file can't be.
    private func write(
        _ entry: JSONObject,
        _ secret: (path: String, secret: Secret)?,
        _ others: [String: [UInt8]],
        _ check: (EntryList) throws(CommandError) -> Void
    ) throws(CommandError) {
        if let secret {
            let isMade: Bool
            do {
                isMade = try FileBytes.create(secret.path, mode: 0o600) { secret.secret.bytes }
            } catch {
                throw CommandError("\(error)", "nothing was changed")
            }
            guard isMade else {
                throw CommandError(
                    "\(secret.path) is there already: name it as the file, or remove it",
                    "nothing was changed"
                )
            }
        }
        do throws(CommandError) {
            try file.change(judgedBy: { judge.faults($0, others: others) }) { list throws(CommandError) in
                // Another run may have added it while questions were asked.
                try check(list)
                list.put(entry)
            }
        } catch {
            if let secret { FileBytes.remove(secret.path) }
            throw error
        }
    }

    private func providers() throws(CommandError) -> (providers: [ProviderConfiguration], hints: [String]) {
        guard let content = try file.content() else { throw CommandError("\(place.path) isn't there") }
        return try judge.read(content)
    }

    /// The entries of a file that has no faults, so that all faults afterwards are those of the new entry.
    private func soundList() throws(CommandError) -> EntryList {
        let list = try file.read()
        let faults = try file.content().map { judge.faults($0) } ?? []
        guard faults.isEmpty else {
            throw CommandError(lines: faults + ["the file is at fault already; nothing was changed"])
        }
        return list
    }

    private func faults(of answers: CommandAnswers, _ draft: ProviderDraft) -> [String] {
        let entry: JSONObject
        do throws(CommandError) {
            entry = try draft.entry(answers)
        } catch {
            return error.lines
        }
        var list = EntryList(.providers)
        list.put(entry)
        return judge.faults(
            list.serialized,
            others: draft.typedSecret(answers).map { [$0.path: $0.secret.bytes] } ?? [:]
        )
    }

    private func taken(_ name: String, in list: EntryList, _ replaces: Bool) -> [String] {
        list[name] != nil && !replaces ? ["\"name\" \(name) is taken"] : []
    }

    private func checkNew(_ name: String, in list: EntryList, _ replaces: Bool) throws(CommandError) {
        guard list[name] != nil, !replaces else { return }
        throw CommandError(
            "\(place.path) has \(name) already: --replace puts a new one in its place",
            "nothing was changed"
        )
    }
}
