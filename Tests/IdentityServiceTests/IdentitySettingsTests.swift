import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import ServiceKit
import Testing

@testable import IdentityService

struct IdentitySettingsTests {
    private let fixture: SettingsFixture
    private var signingPEM: String { fixture.signingPEM }

    init() throws {
        fixture = try SettingsFixture()
    }

    private func settings(_ values: [String: String] = [:], files: [String: [UInt8]] = [:]) throws -> IdentitySettings {
        try fixture.settings(values, files: files)
    }

    private func problems(_ values: [String: String] = [:], files: [String: [UInt8]] = [:]) -> [String] {
        fixture.problems(values, files: files)
    }

    @Test func `Providers, lifetimes and addresses have defaults`() throws {
        let settings = try settings()
        #expect(Set(settings.providers.keys) == [.apple, .google])
        #expect(settings.providers[.apple]?.policy.keysURL == "https://appleid.apple.com/auth/keys")
        #expect(settings.providers[.google]?.policy.issuers == ["https://accounts.google.com", "accounts.google.com"])
        #expect(settings.limits == SessionLimits())
        #expect(settings.limits.refreshGraceSeconds == 30)
        #expect(settings.gateways == .everybody, "on loopback, without client certificates")
        #expect(settings.issuer.keySet.entries.count == 1)
    }

    @Test func `Proxies are those of the usual variables, in lower case first`() throws {
        #expect(try settings().proxies == .none)
        let proxies = try settings([
            "HTTPS_PROXY": "http://ignored.example", "https_proxy": "http://me:secret@proxy.example:3128",
            "HTTP_PROXY": "proxy.example", "NO_PROXY": "inside.example",
        ]).proxies
        #expect(proxies.https.map { "\($0)" } == "http://proxy.example:3128")
        #expect(proxies.http.map { "\($0)" } == "http://proxy.example:80")
        #expect(proxies.exceptions == ProxyExceptions("inside.example"))
        let problem = "HTTPS_PROXY must be http:// or https:// with the host and port of a proxy"
        #expect(problems(["HTTPS_PROXY": "socks5://me:secret@proxy.example"]) == [problem])
    }

    @Test func `Everything can be set`() throws {
        let otherPEM = try SigningKey.generateP256().pem()
        let providers = """
            {"providers": [{"name": "keycloak", "issuers": ["https://kc.example"], "audiences": ["app"],
              "issuer_aliases": ["kc.example"], "keys_url": "https://kc.example/certs", "algorithms": ["RS256", "ES256"], "nonce": "either",
              "nonce_required": false, "token_age_max_seconds": 3600, "clock_leeway_seconds": 5}]}
            """
        let settings = try settings(
            [
                "VESTIBULE_IDENTITY_PROVIDERS": "apple, keycloak", "VESTIBULE_IDENTITY_PROVIDERS_FILE": "providers",
                "VESTIBULE_IDENTITY_APPLE_KEYS_URL": "http://127.0.0.1:7080/apple/auth/keys",
                "VESTIBULE_IDENTITY_SIMULATED_PROVIDERS": "true",
                "VESTIBULE_IDENTITY_APPLE_AUDIENCES": "a,b", "VESTIBULE_IDENTITY_SIGNING_KEY_OTHER_FILE": "other",
                "VESTIBULE_IDENTITY_REFRESH_KEY_OTHER_FILE": "otherRefresh",
                "VESTIBULE_IDENTITY_ACCESS_TOKEN_LIFETIME": "5m", "VESTIBULE_IDENTITY_REFRESH_GRACE": "45s",
                "VESTIBULE_IDENTITY_SESSION_INACTIVITY": "7d", "VESTIBULE_IDENTITY_SESSION_LIFETIME": "90d",
                "VESTIBULE_IDENTITY_ISSUER": "https://id.example", "VESTIBULE_IDENTITY_SESSIONS_MAX": "7",
                "VESTIBULE_IDENTITY_AUDIT_RETENTION": "60d",
            ],
            files: [
                "providers": Array(providers.utf8), "other": Array(otherPEM.utf8),
                "otherRefresh": [UInt8](repeating: 2, count: 32),
            ]
        )
        let keycloak = try #require(ProviderName("keycloak"))
        #expect(Set(settings.providers.keys) == [.apple, keycloak])
        let policy = try #require(settings.providers[keycloak]?.policy)
        #expect(policy.issuers == ["https://kc.example", "kc.example"])
        #expect(policy.algorithms == [.rs256, .es256])
        #expect(
            policy.audiences == [
                "app": AudiencePolicy(id: "app", match: .either, nonce: .optional, withoutNonce: .fresh)
            ]
        )
        #expect(policy.tokenAgeSecondsMax == 3_600)
        #expect(policy.clockLeewaySeconds == 5)
        #expect(settings.providers[.apple]?.policy.audiences.keys.sorted() == ["a", "b"])
        #expect(settings.limits.accessTokenSeconds == 300)
        #expect(settings.limits.refreshGraceSeconds == 45)
        #expect(settings.limits.inactivitySeconds == 7 * 86_400)
        #expect(settings.limits.absoluteSeconds == 90 * 86_400)
        #expect(settings.limits.sessionsMax == 7)
        #expect(settings.limits.eventRetentionSeconds == 60 * 86_400)
        #expect(settings.issuer.keySet.entries.count == 2)
        let old = try #require(RefreshKeys([[UInt8](repeating: 2, count: 32)]))
        let token = RefreshToken(sessionID: .init(high: 1, low: 2), number: 0, nonce: SecureRandom.bytes(16))
        #expect(settings.refreshKeys.verify(old.mint(token)) == token)
    }

    @Test func `A cap has a list that shows all, and the audit log is kept for a month at least`() throws {
        #expect(try settings().limits.sessionsMax == 50)
        for value in ["0", "201", "many"] {
            let told = problems(["VESTIBULE_IDENTITY_SESSIONS_MAX": value])
            #expect(told.count == 1 && told[0].hasPrefix("VESTIBULE_IDENTITY_SESSIONS_MAX must be"), "\(told)")
        }
        let told = problems(["VESTIBULE_IDENTITY_AUDIT_RETENTION": "29d"])
        #expect(told.count == 1 && told[0].hasPrefix("VESTIBULE_IDENTITY_AUDIT_RETENTION must be"), "\(told)")
    }

    @Test func `Faults are reported together and show no secret`() {
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

    /// Compose gives empty values for what a deployment does not set.
    @Test func `Nothing stands in for what a deployment must set`() {
        let unset = SettingsFixture.noAudiences.merging(["VESTIBULE_IDENTITY_ISSUER": ""]) { _, new in new }
        let problems = problems(unset)
        #expect(problems.count == 2, "\(problems)")
        #expect(
            problems.first == "VESTIBULE_IDENTITY_ISSUER is required: the public URL of the gateway, such as "
                + "https://api.example.com"
        )
        #expect(
            problems.last?.hasPrefix(
                "VESTIBULE_IDENTITY_APPLE_AUDIENCES or VESTIBULE_IDENTITY_GOOGLE_AUDIENCES or "
                    + "VESTIBULE_IDENTITY_PROVIDERS_FILE is required"
            ) == true
        )
    }

    @Test func `A provider without audiences is off`() throws {
        let settings = try settings(["VESTIBULE_IDENTITY_APPLE_AUDIENCES": ""])
        #expect(Set(settings.providers.keys) == [.google])
        #expect(settings.providers[.google]?.policy.audiences.keys.sorted() == ["one.apps.googleusercontent.com"])
    }

    @Test func `A named provider needs audiences`() throws {
        let named = SettingsFixture.noAudiences.merging(["VESTIBULE_IDENTITY_PROVIDERS": "apple, google"]) { _, new in
            new
        }
        #expect(
            problems(named) == [
                "VESTIBULE_IDENTITY_PROVIDERS names apple, but VESTIBULE_IDENTITY_APPLE_AUDIENCES is not given, and the "
                    + "providers file has no apple",
                "VESTIBULE_IDENTITY_PROVIDERS names google, but VESTIBULE_IDENTITY_GOOGLE_AUDIENCES is not given, and "
                    + "the providers file has no google",
            ]
        )
        #expect(try Set(settings(["VESTIBULE_IDENTITY_PROVIDERS": "google"]).providers.keys) == [.google])
        #expect(problems(["VESTIBULE_IDENTITY_PROVIDERS": "apple,myspace"]).count == 1)
    }

    @Test func `A provider of the file is on by itself`() throws {
        let content = #"{"providers":[{"name":"a","issuers":["x"],"audiences":["y"],"keys_url":"https://x.example"}]}"#
        let values = SettingsFixture.noAudiences.merging(["VESTIBULE_IDENTITY_PROVIDERS_FILE": "providers"]) { _, new in
            new
        }
        let settings = try settings(values, files: ["providers": Array(content.utf8)])
        #expect(settings.providers.keys.map(\.value) == ["a"])
    }

    /// The URL, whether http was switched on, the issuer, and a word of the fault.
    @Test(
        arguments: [
            ("http://127.0.0.1:7080/k", false, "http://127.0.0.1:8080", "VESTIBULE_IDENTITY_SIMULATED_PROVIDERS"),
            ("http://simulator.test/k", false, "https://id.example", "VESTIBULE_IDENTITY_SIMULATED_PROVIDERS"),
            ("http://simulator.test/k", true, "https://id.example", "while the issuer is an https URL"),
            ("http://localhost.test:80/k", true, "https://id.example", "while the issuer is an https URL"),
            ("http://example.com/k", true, "http://127.0.0.1:8080", "must be an https URL"),
            ("http://simulator.test/k", true, "http://127.0.0.1:8080", nil),
            ("http://[::1]:7080/k", true, "https://id.example", nil),
            ("http://localhost/k", true, "https://id.example", nil),
            ("https://keys.example/k", false, "https://id.example", nil),
        ] as [(String, Bool, String, String?)]
    )
    func `Keys are fetched by TLS`(url: String, isSwitchedOn: Bool, issuer: String, word: String?) {
        let common = ["VESTIBULE_IDENTITY_SIMULATED_PROVIDERS": "\(isSwitchedOn)", "VESTIBULE_IDENTITY_ISSUER": issuer]
        let builtIn = problems(common.merging(["VESTIBULE_IDENTITY_GOOGLE_KEYS_URL": url]) { _, new in new })
        let content = #"{"providers":[{"name":"a","issuers":["x"],"audiences":["y"],"keys_url":"\#(url)"}]}"#
        let inFile = problems(
            common.merging(["VESTIBULE_IDENTITY_PROVIDERS_FILE": "providers"]) { _, new in new },
            files: ["providers": Array(content.utf8)]
        )
        for problems in [builtIn, inFile] {
            #expect(problems.count == (word == nil ? 0 : 1), "\(problems)")
            if let word { #expect(problems.first?.contains(word) == true, "\(problems)") }
        }
    }

    @Test func `The retired key may be its public half`() throws {
        let old = try SigningKey.generateP256()
        for pem in [try old.pem(), try old.verificationKey.pem()] {
            let settings = try settings(
                ["VESTIBULE_IDENTITY_SIGNING_KEY_OTHER_FILE": "other"],
                files: ["other": Array(pem.utf8)]
            )
            #expect(settings.issuer.keySet.entries.map(\.keyID).last == old.keyID)
            #expect(settings.issuer.keySet.entries.count == 2)
        }
        let wrong = problems(["VESTIBULE_IDENTITY_SIGNING_KEY_OTHER_FILE": "other"], files: ["other": [1, 2, 3]])
        #expect(wrong.count == 1 && wrong[0].contains("no private or public key"))
    }

    /// A container is given a file for each key, whether or not there is one.
    @Test func `Empty files of other keys count as none`() throws {
        let settings = try settings(
            [
                "VESTIBULE_IDENTITY_SIGNING_KEY_OTHER_FILE": "empty",
                "VESTIBULE_IDENTITY_REFRESH_KEY_OTHER_FILE": "empty",
            ],
            files: ["empty": []]
        )
        #expect(settings.issuer.keySet.entries.count == 1)
        #expect("\(settings.refreshKeys)" == "RefreshKeys(1)")
        #expect(problems(files: ["signing": [], "refresh": []]).count == 2)
    }

    @Test func `The trusted gateways depend on how callers are authenticated`() throws {
        #expect(try settings(["VESTIBULE_IDENTITY_LISTEN": "[::1]:7001"]).gateways == .everybody)
        #expect(try settings(["VESTIBULE_IDENTITY_LISTEN": "0.0.0.0:7001"]).gateways == .nobody)
        let withCertificates = ["VESTIBULE_IDENTITY_TLS_CLIENT_CA_FILE": "/ca", "VESTIBULE_IDENTITY_GATEWAYS": "a, b"]
        #expect(try settings(withCertificates).gateways == .named(["a", "b"]))
        let byDefault = ["VESTIBULE_IDENTITY_TLS_CLIENT_CA_FILE": "/ca"]
        #expect(try settings(byDefault).gateways == .named(["spiffe://vestibule/gateway"]))
    }

    @Test func `The same signing key twice is a fault`() throws {
        for pem in [signingPEM, try SigningKey(pem: signingPEM).verificationKey.pem()] {
            let problems = problems(
                ["VESTIBULE_IDENTITY_SIGNING_KEY_OTHER_FILE": "other"],
                files: ["other": Array(pem.utf8)]
            )
            #expect(problems.count == 1)
        }
    }
}
