import IdentityDomain
import JOSE
import OutgoingHTTP
import ServiceKit

/// The file of webhook targets, as JSON: `{"targets": […]}`.
enum WebhooksFile {
    static let bytesMax = 65_536
    private static let limits = JSONLimits(bytesMax: bytesMax, depthMax: 4, valuesMax: 1_024)

    /// The targets of a file.
    ///
    /// - Throws: `ConfigurationErrors` with all errors found; none shows a secret.
    static func read(_ file: ConfiguredFile?) throws(ConfigurationErrors) -> [WebhookTarget] {
        guard let file else { return [] }
        let findings = ProviderFindings()
        let targets = read(file, findings)
        guard findings.faults.isEmpty else { throw ConfigurationErrors(findings.faults) }
        return targets
    }

    private static func read(_ file: ConfiguredFile, _ findings: ProviderFindings) -> [WebhookTarget] {
        let key = IdentityKeys.webhooksFile.name
        guard let object = try? JSONObject(parsing: file.content.bytes, limits: limits) else {
            findings.fault(key, "holds no JSON object (RFC 8259) of at most \(bytesMax) bytes")
            return []
        }
        for member in object.members where member.name != "targets" {
            findings.fault(key, "has an unknown member \(ProviderFindings.quoted(member.name))")
        }
        guard let elements = object["targets"]?.array, elements.count <= WebhookTarget.countMax else {
            findings.fault(key, "must hold an array \"targets\" of at most \(WebhookTarget.countMax)")
            return []
        }
        var targets: [WebhookTarget] = []
        var names: Set<String> = []
        for (index, element) in elements.enumerated() {
            guard let entry = element.object else {
                findings.fault(key, "target \(index + 1): is no object")
                continue
            }
            guard let name = entry["name"]?.string.flatMap({ ProviderName($0) })?.value else {
                findings.fault(
                    key,
                    "target \(index + 1): \"name\" must be up to \(ProviderName.charactersMax) lowercase letters, digits, "
                        + "_ and -, beginning with a letter"
                )
                continue
            }
            if !names.insert(name).inserted { findings.fault(key, "target \"\(name)\": is there twice") }
            let reader = EntryReader(object: entry, place: "target \"\(name)\"", findings: findings, key: key)
            if let target = WebhookEntry(reader, name: name, file: file).read() { targets.append(target) }
        }
        return targets
    }
}

extension WebhooksFile {
    /// Checks a URL that we call as the HTTP client would, and returns the part that may be shown.
    ///
    /// - Parameters:
    ///   - member: the URL's.
    ///   - privateAddressesMember: the member that allows private addresses.
    static func place(
        of url: String,
        _ member: String,
        mayBePrivate: Bool,
        _ entry: EntryReader,
        privateAddressesMember: String
    ) -> String? {
        // libcurl would take the first part of a path as the host if that is missing.
        guard let place = OutgoingRequest.Place(url), !url.contains("#"), !url.contains(":///") else {
            entry.fault("\"\(member)\" must be https:// with a host, without user, password and fragment")
            return nil
        }
        if place.scheme != "https", !mayBePrivate {
            entry.fault(
                "\"\(member)\" must be https://; http:// is for targets with \"\(privateAddressesMember)\": true"
            )
        }
        if place.isPublicAddress == false, !mayBePrivate {
            entry.fault(
                "\"\(member)\" names an address that is private or special; such need \"\(privateAddressesMember)\": true"
            )
        }
        return "\(place)"
    }
}

/// One target of the file.
private struct WebhookEntry {
    private let entry: EntryReader
    private let name: String
    private let file: ConfiguredFile

    init(_ entry: EntryReader, name: String, file: ConfiguredFile) {
        (self.entry, self.name, self.file) = (entry, name, file)
    }

    /// The target; nil if it is invalid. All its errors are reported.
    func read() -> WebhookTarget? {
        entry.expect(["name", "url", "secrets", "secret_files", "types", "private_addresses"])
        let mayBePrivate = entry.bool("private_addresses", default: false)
        let place = place(mayBePrivate: mayBePrivate ?? true)
        let secrets = secrets()
        let types = types()
        guard let mayBePrivate, let place, let secrets, let types, let url = entry.text("url", bytesMax: 2048) else {
            return nil
        }
        return WebhookTarget(
            name: name,
            url: url,
            place: place,
            secrets: secrets,
            types: types,
            mayBePrivate: mayBePrivate
        )
    }

    private func place(mayBePrivate: Bool) -> String? {
        guard entry.has("url") else {
            entry.fault("\"url\" is required")
            return nil
        }
        return entry.text("url", bytesMax: 2048).flatMap {
            WebhooksFile.place(
                of: $0,
                "url",
                mayBePrivate: mayBePrivate,
                entry,
                privateAddressesMember: "private_addresses"
            )
        }
    }

    private func secrets() -> [WebhookSecret]? {
        let texts = entry.texts("secrets", countMax: WebhookTarget.secretsMax)
        let paths = entry.texts("secret_files", countMax: WebhookTarget.secretsMax)
        if entry.has("secrets") && texts == nil || entry.has("secret_files") && paths == nil { return nil }
        let counted = (texts ?? []).count + (paths ?? []).count
        guard 1...WebhookTarget.secretsMax ~= counted else {
            entry.fault("needs 1 to \(WebhookTarget.secretsMax) secrets, in \"secrets\" and \"secret_files\" together")
            return nil
        }
        let inFile = (texts ?? []).enumerated().map { ("secret \($0 + 1)", $1) }
        let inFiles = (paths ?? []).compactMap { path in content(path).map { ("the secret in \(path)", $0) } }
        let secrets = (inFile + inFiles).compactMap { what, text in
            let secret = WebhookSecret(text)
            if secret == nil {
                entry.fault("\(what) must be \(WebhookSecret.prefix) and the base64 of 24 to 64 bytes")
            }
            return secret
        }
        return secrets.count == counted ? secrets : nil
    }

    /// The content of a file, without its last line end.
    private func content(_ path: String) -> String? {
        do throws(ConfigurationProblem) {
            var text = try file.read(path, bytesMax: WebhookSecret.textBytesMax).text
            if text.hasSuffix("\n") { text.removeLast() }
            return text
        } catch {
            entry.fault("\"secret_files\" \(error.text)")
            return nil
        }
    }

    private func types() -> Set<WebhookType>? {
        let names = entry.texts("types", countMax: WebhookType.allCases.count)
        guard let names, !names.isEmpty else {
            if names != nil || !entry.has("types") {
                entry.fault("\"types\" must name its event types: \(Self.known)")
            }
            return nil
        }
        let types = names.compactMap { WebhookType(rawValue: $0) }
        for name in names where WebhookType(rawValue: name) == nil {
            entry.fault("\"types\" names \(ProviderFindings.quoted(name)); it may name \(Self.known)")
        }
        return types.count == names.count ? Set(types) : nil
    }

    private static let known = WebhookType.allCases.map(\.rawValue).joined(separator: ", ")
}
