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
        #expect(client.accepts(secret: "secret") && !client.accepts(secret: "Secret") && !client.accepts(secret: ""))
        #expect(client.accessTokenSeconds == 300 && client.postLogoutRedirectURIs.count == 1)
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
