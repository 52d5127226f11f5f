import IdentityDomain
import JOSE
import Models
import ServiceKit
import Testing

@testable import IdentityService

@Suite struct IdentitySettingsTests {
    private let signingPEM: String

    init() throws {
        signingPEM = try SigningKey.generateP256().pem()
    }

    private func settings(
        _ values: [String: String] = [:],
        files: [String: [UInt8]] = [:]
    ) throws -> IdentitySettings {
        var environment = [
            "VESTIBULE_IDENTITY_SIGNING_KEY_FILE": "signing", "VESTIBULE_IDENTITY_REFRESH_KEY_FILE": "refresh",
            "VESTIBULE_DATABASE_HOST": "/tmp",
        ]
        environment.merge(values) { _, new in new }
        var contents = ["signing": Array(signingPEM.utf8), "refresh": [UInt8](repeating: 1, count: 32)]
        contents.merge(files) { _, new in new }
        let all = contents
        let configuration = try Configuration(
            keys: IdentityServer.configurationKeys,
            program: "identity",
            environment: environment,
            readFile: { (path, _) throws(FileFault) in all[path] ?? [] }
        )
        return try IdentitySettings(configuration)
    }

    private func problems(_ values: [String: String] = [:], files: [String: [UInt8]] = [:]) -> [String] {
        do {
            _ = try settings(values, files: files)
            return []
        } catch let faults as ConfigurationFaults {
            return faults.faults.map(\.description)
        } catch {
            return ["\(error)"]
        }
    }

    @Test func defaults() throws {
        let settings = try settings()
        #expect(Set(settings.providers.keys) == [.apple, .google])
        #expect(settings.providers[.apple]?.keysURL == "https://appleid.apple.com/auth/keys")
        #expect(settings.providers[.apple]?.audiences == ["com.example.app"])
        #expect(settings.providers[.google]?.issuers == ["https://accounts.google.com", "accounts.google.com"])
        #expect(settings.limits == SessionLimits())
        #expect(settings.issuer.issuer == "http://127.0.0.1:8080")
        #expect(settings.issuer.keySet.entries.count == 1)
    }

    @Test func everythingCanBeSet() throws {
        let otherPEM = try SigningKey.generateP256().pem()
        let providers = """
            {"providers": [{"name": "keycloak", "issuers": ["https://kc.example"], "audiences": ["app"],
              "keys_url": "https://kc.example/certs", "algorithms": ["RS256", "ES256"], "nonce": "either",
              "nonce_required": false, "token_age_max_seconds": 3600, "clock_leeway_seconds": 5}]}
            """
        let settings = try settings(
            [
                "VESTIBULE_IDENTITY_PROVIDERS": "apple, keycloak", "VESTIBULE_IDENTITY_PROVIDERS_FILE": "providers",
                "VESTIBULE_IDENTITY_APPLE_KEYS_URL": "http://127.0.0.1:7080/apple/auth/keys",
                "VESTIBULE_IDENTITY_APPLE_AUDIENCES": "a,b", "VESTIBULE_IDENTITY_SIGNING_KEY_OTHER_FILE": "other",
                "VESTIBULE_IDENTITY_REFRESH_KEY_OTHER_FILE": "otherRefresh",
                "VESTIBULE_IDENTITY_ACCESS_TOKEN_LIFETIME": "5m", "VESTIBULE_IDENTITY_REFRESH_GRACE": "30s",
                "VESTIBULE_IDENTITY_SESSION_INACTIVITY": "7d", "VESTIBULE_IDENTITY_SESSION_LIFETIME": "90d",
                "VESTIBULE_IDENTITY_ISSUER": "https://id.example",
            ],
            files: [
                "providers": Array(providers.utf8), "other": Array(otherPEM.utf8),
                "otherRefresh": [UInt8](repeating: 2, count: 32),
            ]
        )
        let keycloak = try #require(ProviderName("keycloak"))
        #expect(Set(settings.providers.keys) == [.apple, keycloak])
        let policy = try #require(settings.providers[keycloak])
        #expect(policy.algorithms == [.rs256, .es256])
        #expect(policy.noncePolicy == .either)
        #expect(!policy.isNonceRequired)
        #expect(policy.tokenAgeSecondsMax == 3_600)
        #expect(policy.clockLeewaySeconds == 5)
        #expect(settings.providers[.apple]?.audiences == ["a", "b"])
        #expect(settings.limits.accessTokenSeconds == 300)
        #expect(settings.limits.refreshGraceSeconds == 30)
        #expect(settings.limits.inactivitySeconds == 7 * 86_400)
        #expect(settings.limits.absoluteSeconds == 90 * 86_400)
        #expect(settings.issuer.keySet.entries.count == 2)
        let old = try #require(RefreshKeys([[UInt8](repeating: 2, count: 32)]))
        let token = RefreshToken(sessionID: .init(high: 1, low: 2), generation: 0, nonce: SecureRandom.bytes(16))
        #expect(settings.refreshKeys.verify(old.mint(token)) == token)
    }

    @Test func faultsAreReportedTogetherAndShowNoSecret() {
        let problems = problems(
            [
                "VESTIBULE_IDENTITY_APPLE_KEYS_URL": "http://example.com/keys",
                "VESTIBULE_IDENTITY_PROVIDERS": "apple,myspace",
            ],
            files: ["signing": Array("-----BEGIN hush-hush".utf8), "refresh": Array("hush-hush".utf8)]
        )
        #expect(problems.count == 4)
        #expect(problems.contains { $0.contains("IDENTITY_PROVIDERS") })
        #expect(problems.contains { $0.contains("SIGNING_KEY_FILE") && $0.contains("PEM") })
        #expect(problems.contains { $0.contains("REFRESH_KEY_FILE") && $0.contains("9 bytes") })
        #expect(problems.contains { $0.contains("APPLE_KEYS_URL") && $0.contains("https") })
        #expect(problems.allSatisfy { !$0.contains("hush") })
    }

    @Test(arguments: [
        ("[]", "no JSON object"), (#"{"providers":[1]}"#, "provider 1: is no object"),
        (#"{"providers":[{"name":"A"}]}"#, "lowercase"), (#"{"providers":[{"name":"a","issuer":"x"}]}"#, "\"issuer\""),
        (#"{"providers":[{"name":"a","issuers":"x"}]}"#, "array of texts"),
        (#"{"providers":[{"name":"a","issuers":["x"],"audiences":["y"],"keys_url":"http://x.example"}]}"#, "https"),
        (#"{"providers":[{"name":"a","issuers":["x"],"audiences":["y"],"algorithms":["none"]}]}"#, "RS256"),
        (#"{"providers":[{"name":"a","nonce":"never"}]}"#, "raw, sha256 or either"),
        (#"{"providers":[{"name":"a","nonce_required":"no"}]}"#, "true or false"),
    ])
    func providersFileFaults(content: String, word: String) {
        let problems = problems(
            ["VESTIBULE_IDENTITY_PROVIDERS_FILE": "providers"],
            files: ["providers": Array(content.utf8)]
        )
        #expect(problems.contains { $0.contains(word) }, "\(problems)")
    }

    @Test func unknownProviderIsAFault() {
        #expect(problems(["VESTIBULE_IDENTITY_PROVIDERS": "apple,myspace"]).count == 1)
    }

    @Test func theSameSigningKeyTwiceIsAFault() {
        let problems = problems(
            ["VESTIBULE_IDENTITY_SIGNING_KEY_OTHER_FILE": "other"],
            files: ["other": Array(signingPEM.utf8)]
        )
        #expect(problems.count == 1)
    }
}
