import IdentityDomain
import JOSE
import ServiceKit

/// The file of OAuth clients, as JSON: `{"clients": […]}`.
enum ClientsFile {
    static let bytesMax = 262_144
    static let limits = JSONLimits(bytesMax: bytesMax, depthMax: 4, valuesMax: 16_384)

    /// The clients of a file, by their ids; none without a file.
    ///
    /// - Parameter audiences: those of the providers. No client may have the id of one: the id says which app a session is of.
    /// - Throws: `ConfigurationErrors` with all errors found; none shows a secret.
    static func read(
        _ file: ConfiguredFile?,
        audiences: Set<String>
    ) throws(ConfigurationErrors) -> [String: OAuthClient] {
        guard let file else { return [:] }
        let findings = ProviderFindings()
        let key = IdentityKeys.clientsFile.name
        var clients: [String: OAuthClient] = [:]
        if let object = try? JSONObject(parsing: file.content.bytes, limits: limits),
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
                if clients.updateValue(client, forKey: id) != nil { findings.fault(key, "\(place): is there twice") }
            }
        } else {
            findings.fault(key, "must hold a JSON object with an array \"clients\" of at most \(OAuthClient.countMax)")
        }
        guard findings.faults.isEmpty else { throw ConfigurationErrors(findings.faults) }
        return clients
    }
}

/// One client of the file.
private struct ClientEntry {
    private static let nameBytesMax = 120
    private let entry: EntryReader
    private let id: String

    init(_ entry: EntryReader, id: String) { (self.entry, self.id) = (entry, id) }

    /// The client; nil if it is invalid. All its errors are reported.
    func read() -> OAuthClient? {
        entry.expect([
            "id", "name", "secret_sha256", "redirect_uris", "post_logout_redirect_uris", "scopes", "pkce",
            "access_token_seconds",
        ])
        if !entry.has("name") { entry.fault("\"name\" is required: users see it") }
        let name = entry.text("name", bytesMax: Self.nameBytesMax)
        let hashes = secretHashes()
        let redirectURIs = uris("redirect_uris", isRequired: true)
        let postLogout = uris("post_logout_redirect_uris", isRequired: false)
        let scopes = scopes()
        let pkce = entry.choice("pkce", default: PKCE.required)
        let seconds = entry.seconds("access_token_seconds", in: 30...3_600, default: nil)
        if entry.has("access_token_seconds"), seconds == nil { return nil }
        guard let name, let hashes, let redirectURIs, let postLogout, let scopes, let pkce else { return nil }
        if hashes.isEmpty, pkce == .orNonce {
            entry.fault("\"pkce\" must be \"required\" for a client without a secret (RFC 9700 section 2.1.1)")
            return nil
        }
        return OAuthClient(
            id: id,
            name: name,
            secretHashes: hashes,
            redirectURIs: redirectURIs,
            postLogoutRedirectURIs: postLogout,
            scopes: scopes,
            requiresPKCE: pkce == .required,
            accessTokenSeconds: seconds
        )
    }

    private enum PKCE: String, CaseIterable {
        case required
        case orNonce = "or_nonce"
    }

    /// No secret makes a public client.
    private func secretHashes() -> [[UInt8]]? {
        guard entry.has("secret_sha256") else { return [] }
        guard let texts = entry.texts("secret_sha256", countMax: OAuthClient.secretsMax) else { return nil }
        let hashes = texts.compactMap { text in Hex.decode(text).flatMap { $0.count == SHA256.byteCount ? $0 : nil } }
        guard !texts.isEmpty, hashes.count == texts.count else {
            entry.fault("\"secret_sha256\" must hold the SHA-256 of each secret in hexadecimal; leave it out for none")
            return nil
        }
        return hashes
    }

    private func uris(_ member: String, isRequired: Bool) -> [RedirectURI]? {
        guard entry.has(member) || isRequired else { return [] }
        guard let texts = entry.object[member]?.array?.map({ $0.string }), !texts.isEmpty,
            texts.count <= OAuthClient.redirectURIsMax
        else {
            entry.fault("\"\(member)\" must be an array of 1 to \(OAuthClient.redirectURIsMax) URIs")
            return nil
        }
        var uris: [RedirectURI] = []
        for text in texts {
            do throws(RedirectURI.Problem) {
                uris.append(try RedirectURI(text ?? ""))
            } catch {
                entry.fault("\"\(member)\" has \(ProviderFindings.quoted(text ?? "")), which \(Self.words(error))")
            }
        }
        return uris.count == texts.count ? uris : nil
    }

    private static func words(_ problem: RedirectURI.Problem) -> String {
        switch problem {
        case .malformed: "is no URI of at most \(RedirectURI.bytesMax) ASCII characters"
        case .fragment: "has a fragment (RFC 6749 section 3.1.2)"
        case .userInformation: "has a user name or a password"
        case .clearText: "is of http; only http://127.0.0.1 and http://[::1] may be (RFC 8252 section 7.3)"
        case .scheme: "has a scheme that isn't https or an app's own, such as com.example.app (RFC 8252 section 7.1)"
        }
    }

    private func scopes() -> Set<OAuthScope>? {
        guard entry.has("scopes") else { return Set(OAuthScope.allCases) }
        guard let texts = entry.texts("scopes", countMax: OAuthScope.allCases.count) else { return nil }
        let scopes = texts.compactMap { OAuthScope(rawValue: $0) }
        guard !scopes.isEmpty, scopes.count == texts.count else {
            let known = OAuthScope.allCases.map(\.rawValue).joined(separator: ", ")
            entry.fault("\"scopes\" must name some of \(known)")
            return nil
        }
        return Set(scopes)
    }
}
