import IdentityDomain
import JOSE
import ServiceKit
import Testing

@testable import IdentityService

/// The file of OAuth clients.
struct ClientsFileTests {
    private static let key = "VESTIBULE_IDENTITY_CLIENTS_FILE"
    private static let digest = Hex.encode(SHA256.hash("secret"))

    private func settings(_ content: String) throws -> IdentitySettings {
        try SettingsFixture().settings(
            [Self.key: "etc/clients.json"],
            files: ["etc/clients.json": Array(content.utf8)]
        )
    }

    private func problems(_ content: String) throws -> [String] {
        do {
            _ = try settings(content)
            return []
        } catch let faults as ConfigurationErrors {
            return faults.faults.map(\.description)
        }
    }

    /// A valid client, except for the changes; nil leaves a member out.
    private static func client(_ changes: [String: String?] = [:]) -> String {
        var members: [String: String?] = [
            "id": #""web""#, "name": #""Hikers""#, "redirect_uris": #"["https://app.example.com/callback"]"#,
        ]
        for (name, value) in changes { members[name] = value }
        let texts = members.compactMap { name, value in value.map { "\"\(name)\": \($0)" } }
        return "{\(texts.sorted().joined(separator: ", "))}"
    }

    private static func file(_ clients: String...) -> String {
        "{\"clients\": [\(clients.joined(separator: ", "))]}"
    }

    @Test
    func `A client with nothing but its id, name and redirect URI is public, needs PKCE and may have every scope`()
        throws
    {
        let client = try #require(try settings(Self.file(Self.client())).clients["web"])
        #expect(client.name == "Hikers" && !client.isConfidential && client.requiresPKCE)
        #expect(client.scopes == Set(OAuthScope.allCases) && client.accessTokenSeconds == nil)
        #expect(client.redirectURIs.map(\.text) == ["https://app.example.com/callback"])
        #expect(client.postLogoutRedirectURIs.isEmpty)
    }

    @Test func `Every member is read`() throws {
        let text = Self.client([
            "secret_sha256": "[\"\(Self.digest)\"]", "pkce": #""or_nonce""#, "scopes": #"["openid", "email"]"#,
            "access_token_seconds": "300", "post_logout_redirect_uris": #"["https://app.example.com/"]"#,
        ])
        let client = try #require(try settings(Self.file(text)).clients["web"])
        #expect(client.isConfidential && !client.requiresPKCE && client.scopes == [.openid, .email])
        #expect(["secret", "Secret", ""].map { client.authentication.accepts(secret: $0) } == [true, false, false])
        #expect(client.accessTokenSeconds == 300 && client.postLogoutRedirectURIs.count == 1)
    }

    @Test func `What pages, tokens and the end of sessions need is read`() throws {
        let key = try SigningKey.generateP256(keyID: "k1").publicJWK.serialized()
        let text = Self.client([
            "jwks": "{\"keys\": [\(String(decoding: key, as: UTF8.self))]}", "disabled": "true",
            "resources": #"["https://orders.example.com/"]"#, "required_fields": #"["phone_number", "display_name"]"#,
            "logo_uri": #""https://example.com/logo.png""#, "color": ##""#0A5AD2""##,
            "backchannel_logout_uri": #""http://10.0.0.9/logout""#, "backchannel_logout_private_addresses": "true",
        ])
        let client = try #require(try settings(Self.file(text)).clients["web"])
        guard case .keys(let keys) = client.authentication else {
            Issue.record("no keys")
            return
        }
        #expect(keys.entries.map(\.keyID) == ["k1"] && client.isConfidential && client.isDisabled)
        #expect(client.resources == ["https://orders.example.com/"])
        #expect(client.requiredFields == ["display_name", "phone_number"])
        #expect(client.logoURI == "https://example.com/logo.png" && client.color == "#0a5ad2")
        #expect(client.logoutURI == LogoutURI(url: "http://10.0.0.9/logout", mayBePrivate: true))
    }

    @Test(arguments: [
        (file(client(["jwks": #"{"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "a"}]}"#])), "\"jwks\" must hold"),
        (file(client(["jwks": #"{"keys": []}"#])), "\"jwks\" must hold"),
        (file(client(["jwks": "{}", "secret_sha256": "[]"])), "not both"),
        (file(client(["color": #""red""#])), "\"color\""),
        (file(client(["logo_uri": #""http://example.com/a.png""#])), "\"logo_uri\""),
        (file(client(["resources": #"["orders"]"#])), "\"resources\""),
        (file(client(["resources": #"["https://a.example/#f"]"#])), "\"resources\""),
        (file(client(["required_fields": #"["email"]"#])), "\"required_fields\""),
        (file(client(["id_token_signed_response_alg": #""none""#])), "\"id_token_signed_response_alg\""),
        (file(client(["id_token_signed_response_alg": #""RS256""#])), "no key for RS256"),
        (file(client(["backchannel_logout_uri": #""http://example.com/""#])), "must be https"),
        (file(client(["backchannel_logout_uri": #""https://10.0.0.1/""#])), "private or special"),
        (file(client(["redirect_uris": #"["awscognito://signin/"]"#])), "has a scheme"),
        (file(client(["short_schemes": "true", "redirect_uris": #"["javascript://x/"]"#])), "has a scheme"),
        (file(client(["short_schemes": "true", "redirect_uris": #"["data:text/html,x"]"#])), "has a scheme"),
        (file(client(["short_schemes": "7"])), "\"short_schemes\""),
        (file(client(["disabled": #""yes""#])), "\"disabled\""),
        (file(client(["redirect_uris": #"["https://[::1/"]"#])), "is no URI"),
    ])
    func `A member of these that can't be right is refused`(text: String, expected: String) throws {
        let problems = try problems(text)
        #expect(problems.contains { $0.hasPrefix(Self.key) && $0.contains(expected) }, "\(problems)")
    }

    @Test func `An app that exists may have a scheme without a dot`() throws {
        let text = Self.client(["short_schemes": "true", "redirect_uris": #"["awscognito://signin/"]"#])
        let client = try #require(try settings(Self.file(text)).clients["web"])
        #expect(client.redirectURIs[0].admits("awscognito://signin/"))
        #expect(!client.redirectURIs[0].admits("awscognito://signin/?x"))
    }

    @Test func `A private key in the clients file is refused`() throws {
        let jwk =
            #"{"kty": "EC", "crv": "P-256", "kid": "a", "d": "x", "#
            + #""x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#
        let problems = try problems(Self.file(Self.client(["jwks": "{\"keys\": [\(jwk)]}"])))
        #expect(problems.contains { $0.contains("private key") }, "\(problems)")
    }

    @Test(arguments: [
        ("[]", "must hold a JSON object"), (#"{"clients": {}}"#, "must hold a JSON object"),
        (#"{"clients": [], "client": 1}"#, #"unknown member "client""#), (#"{"clients": [7]}"#, "client 1: \"id\""),
        (file(client(["id": #""a b""#])), "client 1: \"id\""), (file(client(["name": nil])), "\"name\" is required"),
        (file(client(["redirect_uris": nil])), "\"redirect_uris\" must be an array"),
        (file(client(["redirect_uris": "[]"])), "\"redirect_uris\" must be an array"),
        (file(client(["redirect_uris": #"["http://localhost/"]"#])), "RFC 8252"),
        (file(client(["redirect_uris": #"["javascript:alert(1)"]"#])), "has a scheme"),
        (file(client(["redirect_uris": "[7]"])), "is no URI"), (file(client(["secret_sha256": "[]"])), "SHA-256"),
        (file(client(["secret_sha256": #"["secret"]"#])), "SHA-256"),
        (file(client(["scopes": #"["admin"]"#])), "\"scopes\""),
        (file(client(["pkce": #""or_nonce""#])), "without a secret"), (file(client(["pkce": #""never""#])), "\"pkce\""),
        (file(client(["access_token_seconds": "5"])), "\"access_token_seconds\""),
        (file(client(["secret": #""hunter2""#])), "unknown member \"secret\""),
        (file(client(), client()), "is there twice"),
        (file(client(["id": #""com.acme.one""#])), "is an audience of a provider"),
    ])
    func `A file that can't be right is refused, with the client and the member`(text: String, expected: String) throws
    {
        let problems = try problems(text)
        #expect(problems.contains { $0.hasPrefix(Self.key) && $0.contains(expected) }, "\(problems)")
        #expect(problems.allSatisfy { !$0.contains("hunter2") })
    }

    @Test func `All faults are reported at once`() throws {
        let text = Self.file(
            Self.client(["name": nil, "scopes": "7"]),
            Self.client(["id": #""b""#, "redirect_uris": "7"])
        )
        #expect(try problems(text).count == 3)
    }
}
