import IdentityDomain
import JOSE
import ServiceKit

/// `clients`: writes and judges the file of the apps that sign users in by OpenID Connect.
public struct ClientsCommand: Sendable {
    private static let secretByteCount = 32

    private let place: CommandPlace
    private let file: EntryFile
    private let judge: ClientsJudge

    /// A command on a file.
    ///
    /// - Parameters:
    ///   - path: the file; nil for the one that the configuration names.
    ///   - configurationPath: the configuration file; nil to use VESTIBULE_CONFIG.
    ///   - environment: the process's variables.
    public init(path: String?, configurationPath: String?, environment: [String: String]) throws(CommandError) {
        place = try CommandPlace(
            path: path,
            key: IdentityKeys.clientsFile.name,
            configurationPath: configurationPath,
            environment: environment
        )
        file = try EntryFile(place.path, .clients)
        judge = ClientsJudge(place)
    }

    /// Adds a client. A secret is made for one that has a secret; the file gets its hash only.
    ///
    /// - Parameters:
    ///   - answers: what is known of it, by the fields of ``ClientDraft``.
    ///   - replaces: whether it takes the place of a client with the same id, as a whole.
    ///   - prompt: asks for what is missing; nil if nobody is at a terminal.
    public func add(
        _ answers: CommandAnswers,
        replaces: Bool,
        prompt: TerminalPrompt?
    ) throws(CommandError) -> CommandOutcome {
        let secret = Hex.encode(SecureRandom.bytes(Self.secretByteCount))
        let hash = Hex.encode(SHA256.hash(secret))
        let list = try soundList()
        if let id = answers[ClientDraft.id] { try checkNew(id, in: list, replaces) }
        // At once, and not after all questions.
        _ = try ClientDraft.entry(answers, secretHash: hash)
        let questionnaire = Questionnaire(fields: ClientDraft.fields, prompt: prompt) { answers in
            faults(of: answers, hash) + taken(answers, in: list, replaces)
        }
        let known = try questionnaire.complete(answers)
        let (id, entry) = (known[ClientDraft.id] ?? "", try ClientDraft.entry(known, secretHash: hash))
        var isReplaced = false
        try file.change(judgedBy: judge.faults) { list throws(CommandError) in
            // Another run may have added it while questions were asked.
            try checkNew(id, in: list, replaces)
            isReplaced = list[id] != nil
            list.put(entry)
        }
        var outcome = CommandOutcome(output: ["client_id=\(id)"])
        outcome.remarks = ["\(isReplaced ? "replaced" : "added") client \(id) in \(place.path)"] + remarks
        if known[ClientDraft.kind] == ClientDraft.confidential {
            outcome.output.append("client_secret=\(secret)")
            outcome.remarks.append(Self.secretRemark)
        }
        return outcome
    }

    /// Adds a secret to a client that has one. The former one stays valid.
    public func addSecret(_ id: String) throws(CommandError) -> CommandOutcome {
        let secret = Hex.encode(SecureRandom.bytes(Self.secretByteCount))
        try changeSecrets(of: id) { hashes throws(CommandError) in
            guard hashes.count < OAuthClient.secretsMax else {
                throw CommandError(
                    "client \(id) has \(hashes.count) secrets, the most; remove the oldest by remove-secret"
                )
            }
            hashes.append(.string(Hex.encode(SHA256.hash(secret))))
        }
        return CommandOutcome(
            output: ["client_id=\(id)", "client_secret=\(secret)"],
            remarks: [
                "added a secret to client \(id) in \(place.path); the former one is valid until remove-secret removes it",
                Self.secretRemark,
            ]
        )
    }

    /// Removes the oldest secret of a client that has several.
    public func removeSecret(_ id: String) throws(CommandError) -> CommandOutcome {
        try changeSecrets(of: id) { hashes throws(CommandError) in
            guard hashes.count > 1 else {
                throw CommandError("client \(id) has one secret; add another first by add-secret")
            }
            hashes.removeFirst()
        }
        return CommandOutcome(remarks: ["removed the oldest secret of client \(id) in \(place.path)"])
    }

    /// Removes a client.
    public func remove(_ id: String) throws(CommandError) -> CommandOutcome {
        try file.change(judgedBy: judge.faults) { list throws(CommandError) in
            guard list.remove(id) else { throw unknown(id) }
        }
        return CommandOutcome(remarks: ["removed client \(id) from \(place.path)"])
    }

    /// The clients in a table, in the order of the file; never a hash.
    public func list() throws(CommandError) -> CommandOutcome {
        let clients = try clients()
        let ids = try file.read().ids
        let places = Dictionary(ids.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        return CommandOutcome(
            output: ClientsReport.table(clients.sorted { places[$0.id] ?? 0 < places[$1.id] ?? 0 })
        )
    }

    /// What the file comes to, with hints.
    ///
    /// - Throws: all its faults.
    public func check() throws(CommandError) -> CommandOutcome {
        let clients = try clients()
        let hints = clients.flatMap(ClientsReport.hints).map { "hint: \($0)" }
        return CommandOutcome(
            output: clients.flatMap(\.lines) + hints + ["\(place.path): clients \(clients.count), faults 0"]
        )
    }

    /// When a change counts.
    private var remarks: [String] {
        place.isConfigured ? ["a running identity reads it within seconds"] : place.remarks
    }

    private static let secretRemark = "the secret is shown this once: only its hash is kept"

    private func clients() throws(CommandError) -> [OAuthClient] {
        guard let content = try file.content() else { throw CommandError("\(place.path) isn't there") }
        _ = try file.read()
        return try judge.read(content)
    }

    /// The entries of a file that has no faults, so that all faults afterwards are those of the new entry.
    private func soundList() throws(CommandError) -> EntryList {
        let list = try file.read()
        let faults = try file.content().map(judge.faults) ?? []
        guard faults.isEmpty else {
            throw CommandError(lines: faults + ["the file is at fault already; nothing was changed"])
        }
        return list
    }

    private func faults(of answers: CommandAnswers, _ hash: String) -> [String] {
        let entry: JSONObject
        do throws(CommandError) {
            entry = try ClientDraft.entry(answers, secretHash: hash)
        } catch {
            return error.lines
        }
        var list = EntryList(.clients)
        list.put(entry)
        return judge.faults(list.serialized)
    }

    private func taken(_ answers: CommandAnswers, in list: EntryList, _ replaces: Bool) -> [String] {
        guard let id = answers[ClientDraft.id], list[id] != nil, !replaces else { return [] }
        return ["\"id\" \(id) is taken"]
    }

    private func checkNew(_ id: String, in list: EntryList, _ replaces: Bool) throws(CommandError) {
        guard list[id] != nil, !replaces else { return }
        throw CommandError(
            "\(place.path) has a client \(id) already: --replace puts a new one in its place, and `clients add-secret \(id)` "
                + "gives it another secret",
            "nothing was changed"
        )
    }

    private func unknown(_ id: String) -> CommandError { CommandError("\(place.path) has no client \(id)") }

    private func changeSecrets(
        of id: String,
        _ change: (inout [JSONValue]) throws(CommandError) -> Void
    ) throws(CommandError) {
        try file.change(judgedBy: judge.faults) { list throws(CommandError) in
            guard var entry = list[id] else { throw unknown(id) }
            guard var hashes = entry["secret_sha256"]?.array else {
                throw CommandError("client \(id) is public: it has no secrets")
            }
            try change(&hashes)
            entry["secret_sha256"] = .array(hashes)
            list.put(entry)
        }
    }
}
