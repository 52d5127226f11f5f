import IdentityDomain
import JOSE

/// One client of the file.
struct ClientEntry {
    private static let nameBytesMax = 120
    private static let logoBytesMax = 512
    private static let resourceBytesMax = 255
    /// As the profile names what is missing.
    private static let profileFields = ["display_name", "username", "phone_number"]
    private let entry: EntryReader
    private let id: String

    init(_ entry: EntryReader, id: String) { (self.entry, self.id) = (entry, id) }

    /// The client; nil if it is invalid. All its errors are reported.
    func read() -> OAuthClient? {
        entry.expect([
            "id", "name", "secret_sha256", "jwks", "redirect_uris", "post_logout_redirect_uris", "scopes", "pkce",
            "access_token_seconds", "id_token_signed_response_alg", "resources", "backchannel_logout_uri",
            "backchannel_logout_private_addresses", "required_fields", "logo_uri", "color", "disabled", "short_schemes",
            "dpop",
        ])
        if !entry.has("name") { entry.fault("\"name\" is required: users see it") }
        let name = entry.text("name", bytesMax: Self.nameBytesMax)
        let redirectURIs = uris("redirect_uris", isRequired: true)
        let pkce = entry.choice("pkce", default: PKCE.required)
        let authentication = authentication()
        if let authentication, !authentication.isConfidential, pkce == .orNonce {
            entry.fault("\"pkce\" must be \"required\" for a client without a secret (RFC 9700 section 2.1.1)")
        }
        var client = OAuthClient(
            id: id,
            name: name ?? "",
            authentication: authentication ?? .none,
            redirectURIs: redirectURIs ?? [],
            requiresPKCE: pkce == .required
        )
        readTokens(&client)
        readPages(&client)
        return name == nil || authentication == nil || redirectURIs == nil ? nil : client
    }

    private func readTokens(_ client: inout OAuthClient) {
        client.scopes = scopes() ?? []
        client.accessTokenSeconds = entry.seconds("access_token_seconds", in: 30...3_600, default: nil)
        client.idTokenAlgorithm =
            entry.choice("id_token_signed_response_alg", default: IDTokenAlgorithm.es256)?.value ?? .es256
        client.resources = resources()
        client.requiresKey = entry.bool("dpop", default: false) ?? true
        client.logoutURI = logoutURI()
    }

    private func readPages(_ client: inout OAuthClient) {
        client.postLogoutRedirectURIs = uris("post_logout_redirect_uris", isRequired: false) ?? []
        client.isDisabled = entry.bool("disabled", default: false) ?? true
        let fields = entry.texts("required_fields", countMax: Self.profileFields.count) ?? []
        if !fields.allSatisfy(Self.profileFields.contains) {
            entry.fault("\"required_fields\" may name \(Self.profileFields.joined(separator: ", "))")
        }
        client.requiredFields = Self.profileFields.filter(fields.contains)
        if let color = entry.text("color") {
            if !OAuthClient.isAcceptable(color: color) { entry.fault("\"color\" must be such as \"#0a5ad2\"") }
            client.color = color.lowercased()
        }
        if let logo = entry.text("logo_uri", bytesMax: Self.logoBytesMax) {
            let uri = try? RedirectURI(logo)
            if uri == nil || !logo.hasPrefix("https://") { entry.fault("\"logo_uri\" must be an https URL") }
            client.logoURI = logo
        }
    }

    private enum IDTokenAlgorithm: String, CaseIterable {
        case es256 = "ES256"
        case rs256 = "RS256"

        var value: SignatureAlgorithm { self == .es256 ? .es256 : .rs256 }
    }

    private enum PKCE: String, CaseIterable {
        case required
        case orNonce = "or_nonce"
    }

    /// Neither secrets nor keys make a public client; nil if what there is is invalid.
    private func authentication() -> ClientAuthentication? {
        guard !entry.has("secret_sha256") || !entry.has("jwks") else {
            entry.fault("may have \"secret_sha256\" or \"jwks\", not both")
            return nil
        }
        if entry.has("secret_sha256") { return secretHashes().map { .secrets($0) } }
        if entry.has("jwks") { return keys().map { .keys($0) } }
        return ClientAuthentication.none
    }

    private func secretHashes() -> [[UInt8]]? {
        guard let texts = entry.texts("secret_sha256", countMax: OAuthClient.secretsMax) else { return nil }
        let hashes = texts.compactMap { text in Hex.decode(text).flatMap { $0.count == SHA256.byteCount ? $0 : nil } }
        guard !texts.isEmpty, hashes.count == texts.count else {
            entry.fault("\"secret_sha256\" must hold the SHA-256 of each secret in hexadecimal; leave it out for none")
            return nil
        }
        return hashes
    }

    private func keys() -> KeySet? {
        guard let object = entry.object["jwks"]?.object, let elements = object["keys"]?.array,
            1...OAuthClient.keysMax ~= elements.count, let keys = try? KeySet(parsing: object.serialized()),
            keys.entries.count == elements.count
        else {
            entry.fault(
                "\"jwks\" must hold 1 to \(OAuthClient.keysMax) public keys with \"kid\": RSA, P-256 or P-384 (RFC 7517)"
            )
            return nil
        }
        if elements.contains(where: { $0.object?["d"] != nil }) {
            entry.fault("\"jwks\" has a private key; only its public half belongs here")
            return nil
        }
        return keys
    }

    private func uris(_ member: String, isRequired: Bool) -> [RedirectURI]? {
        guard entry.has(member) || isRequired else { return [] }
        guard let texts = entry.object[member]?.array?.map({ $0.string }), !texts.isEmpty,
            texts.count <= OAuthClient.redirectURIsMax
        else {
            entry.fault("\"\(member)\" must be an array of 1 to \(OAuthClient.redirectURIsMax) URIs")
            return nil
        }
        let allowsShortSchemes = entry.bool("short_schemes", default: false) ?? false
        var uris: [RedirectURI] = []
        for text in texts {
            do throws(RedirectURI.Problem) {
                uris.append(try RedirectURI(text ?? "", allowsShortSchemes: allowsShortSchemes))
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

    private func logoutURI() -> LogoutURI? {
        let mayBePrivate = entry.bool("backchannel_logout_private_addresses", default: false) ?? true
        guard let url = entry.text("backchannel_logout_uri", bytesMax: 2048) else { return nil }
        return WebhooksFile.place(
            of: url,
            "backchannel_logout_uri",
            mayBePrivate: mayBePrivate,
            entry,
            privateAddressesMember: "backchannel_logout_private_addresses"
        ).map { _ in LogoutURI(url: url, mayBePrivate: mayBePrivate) }
    }

    /// Absolute URIs without a fragment (RFC 8707 section 2).
    private func resources() -> Set<String> {
        let texts = entry.texts("resources", countMax: OAuthClient.resourcesMax) ?? []
        for text in texts where (try? RedirectURI(text)) == nil || text.utf8.count > Self.resourceBytesMax {
            entry.fault(
                "\"resources\" has \(ProviderFindings.quoted(text)), which is no URL of an API (RFC 8707 section 2)"
            )
        }
        return Set(texts)
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
