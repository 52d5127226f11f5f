import IdentityDomain
import JOSE
import ServiceKit

/// The file of OAuth clients, as JSON: `{"clients": […]}`.
struct ClientsFile: Sendable {
    static let bytesMax = 262_144
    static let limits = JSONLimits(bytesMax: bytesMax, depthMax: 7, valuesMax: 16_384)

    /// The file, as it was read at the start.
    let file: ConfiguredFile
    /// The audiences of the providers. No client may have the id of one: the id says which app a session is of.
    let audiences: Set<String>
    /// Whether we had a key for RS256 at the start.
    let signsRS256: Bool

    /// The clients by their ids.
    ///
    /// - Throws: `ConfigurationErrors` with all errors found; none shows a secret.
    func clients() throws(ConfigurationErrors) -> [String: OAuthClient] {
        try clients(of: file, signsRS256: signsRS256)
    }

    /// What the file holds now: its content, and the clients by their ids. Reads the file; blocks meanwhile.
    ///
    /// - Parameter signsRS256: whether we have a key for RS256 now.
    /// - Throws: as ``clients()``.
    func reread(signsRS256: Bool) throws(ConfigurationErrors) -> (content: Secret, clients: [String: OAuthClient]) {
        let new: ConfiguredFile
        do throws(ConfigurationProblem) {
            new = try file.reread(bytesMax: Self.bytesMax)
        } catch {
            throw ConfigurationErrors([ConfigurationError(key: IdentityKeys.clientsFile.name, problem: error.text)])
        }
        return (new.content, try clients(of: new, signsRS256: signsRS256))
    }

    private func clients(
        of file: ConfiguredFile,
        signsRS256: Bool
    ) throws(ConfigurationErrors) -> [String: OAuthClient] {
        let content = file.content.bytes
        let findings = ProviderFindings()
        let key = IdentityKeys.clientsFile.name
        var clients: [String: OAuthClient] = [:]
        if let object = try? JSONObject(parsing: content, limits: Self.limits),
            let elements = object["clients"]?.array, elements.count <= OAuthClient.countMax
        {
            for member in object.members where member.name != "clients" {
                findings.fault(key, "has an unknown member \(ProviderFindings.quoted(member.name))")
            }
            for (index, element) in elements.enumerated() {
                guard let id = element.object?["id"]?.string, OAuthClient.isAcceptable(id: id) else {
                    findings.fault(
                        key,
                        "client \(index + 1): \"id\" must be 1 to \(OAuthClient.idBytesMax) letters, digits and -._~"
                    )
                    continue
                }
                let place = "client \"\(id)\""
                if audiences.contains(id) { findings.fault(key, "\(place): is an audience of a provider") }
                let reader = EntryReader(object: element.object ?? [:], place: place, findings: findings, key: key)
                guard let client = ClientEntry(reader, id: id).read() else { continue }
                if client.idTokenAlgorithm == .rs256, !signsRS256 {
                    findings.fault(key, "\(place): there is no key for RS256; `vestibule keys rotate rsa` makes one")
                }
                if clients.updateValue(client, forKey: id) != nil { findings.fault(key, "\(place): is there twice") }
            }
        } else {
            findings.fault(key, "must hold a JSON object with an array \"clients\" of at most \(OAuthClient.countMax)")
        }
        guard findings.faults.isEmpty else { throw ConfigurationErrors(findings.faults) }
        return clients
    }
}
