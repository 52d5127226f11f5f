import IdentityDomain
import JOSE
import ServiceKit
import Testing

@testable import IdentityService

struct ProviderSettingsTests {
    private let fixture: SettingsFixture

    init() throws {
        fixture = try SettingsFixture()
    }

    @Test func `A provider and its audiences have settings for everything`() throws {
        let settings = try fixture.providers(
            #"""
            {"providers": [
              {"name": "apple", "audiences": [
                {"id": "com.acme.app", "apple_key": {"team_id": "ACME000001", "key_id": "ACMEKEY001", "private_key_file": "apple.p8"}},
                {"id": "com.acme.debug", "nonce": "optional", "without_nonce": "code", "access_token_lifetime_seconds": 30,
                 "apple_key": {"team_id": "ACME000001", "key_id": "ACMEKEY002", "private_key_file": "/keys/apple.p8"}},
                {"id": "com.acme.web", "kind": "services", "match": "either", "nonce": "optional", "without_nonce": "fresh"}]},
              {"name": "facebook", "access_tokens": "facebook", "audiences": [{"id": "24680", "client_secret_file": "secret"}]},
              {"name": "google", "access_tokens": "google", "audiences": [
                {"id": "web.acme", "kind": "web", "nonce": "unknown", "without_nonce": "fresh"}]},
              {"name": "kc", "issuers": ["https://kc.acme.org"], "issuer_aliases": ["kc.acme.org"], "keys_url": "https://kc.acme.org/c",
               "authorization_url": "https://kc.acme.org/a", "token_url": "https://kc.acme.org/t", "revocation_url": "https://kc.acme.org/r",
               "algorithms": ["ES256"], "token_age_max_seconds": 60, "clock_leeway_seconds": 0, "display_name": "Staff of Acme",
               "audiences": [{"id": "app", "match": "sha256", "access_token_lifetime_seconds": 3600, "id_token": false}]}]}
            """#
        )
        #expect(settings.faults == [])
        #expect(settings.hints == [])
        #expect(settings.providers.map(\.policy.name.value) == ["apple", "facebook", "google", "kc"])
        let apple = settings.providers[0]
        #expect(apple.policy.issuers == ["https://appleid.apple.com"])
        #expect(apple.policy.keysURL == "https://appleid.apple.com/auth/keys")
        #expect(apple.endpoints.tokenURL == "https://appleid.apple.com/auth/token")
        #expect(apple.endpoints.revocationURL == "https://appleid.apple.com/auth/revoke")
        #expect(apple.endpoints.authorizationURL == "https://appleid.apple.com/auth/authorize")
        #expect(apple.accessTokens == nil)
        #expect(settings.providers.map(\.displayName) == [nil, nil, nil, "Staff of Acme"])
        #expect(
            apple.policy.audiences == [
                "com.acme.app": AudiencePolicy(id: "com.acme.app", match: .sha256),
                "com.acme.debug": AudiencePolicy(
                    id: "com.acme.debug",
                    match: .sha256,
                    nonce: .optional,
                    withoutNonce: .code,
                    accessTokenSeconds: 30
                ),
                "com.acme.web": AudiencePolicy(
                    id: "com.acme.web",
                    kind: .services,
                    match: .either,
                    nonce: .optional,
                    withoutNonce: .fresh
                ),
            ]
        )
        #expect(apple.credentials.keys.sorted() == ["com.acme.app", "com.acme.debug"])
        guard case .apple("ACME000001", "ACMEKEY002", let key) = try #require(apple.credentials["com.acme.debug"])
        else {
            Issue.record("another credential")
            return
        }
        #expect(key.keyID == "ACMEKEY002", "the header of a client secret names the key as Apple does")
        try expectOthers(settings)
    }

    private func expectOthers(_ settings: ProviderSettings) throws {
        let facebook = settings.providers[1]
        #expect(facebook.policy.issuers == ["https://www.facebook.com", "https://facebook.com"])
        #expect(facebook.policy.keysURL == "https://limited.facebook.com/.well-known/oauth/openid/jwks/")
        #expect(facebook.endpoints.debugTokenURL == "https://graph.facebook.com/debug_token")
        #expect(facebook.endpoints.userInfoURL == "https://graph.facebook.com/me")
        #expect(facebook.accessTokens == .facebook)
        guard case .secret(let secret) = try #require(facebook.credentials["24680"]) else {
            Issue.record("another credential")
            return
        }
        #expect(secret.text == "hush-hush", "without the line end")
        let google = settings.providers[2]
        #expect(google.endpoints.tokenInfoURL == "https://oauth2.googleapis.com/tokeninfo")
        #expect(google.endpoints.userInfoURL == "https://openidconnect.googleapis.com/v1/userinfo")
        #expect(google.accessTokens == .google)
        #expect(google.policy.audiences["web.acme"]?.match == .either)
        let other = settings.providers[3].policy
        #expect(other.issuers == ["https://kc.acme.org", "kc.acme.org"])
        #expect(other.algorithms == [.es256])
        #expect(other.tokenAgeSecondsMax == 60)
        #expect(other.clockLeewaySeconds == 0)
        #expect(other.audiences["app"]?.accessTokenSeconds == 3600)
        #expect(other.audiences["app"]?.hasIDToken == false)
        #expect(settings.providers[3].endpoints.revocationURL == "https://kc.acme.org/r")
    }

    @Test func `Deprecated members still count, each with a hint`() throws {
        let settings = try fixture.providers(
            #"""
            {"providers": [
              {"name": "kc", "issuers": ["i"], "keys_url": "https://kc.acme.org/c", "nonce": "sha256", "nonce_required": false,
               "audiences": ["app", {"id": "own", "match": "raw", "nonce": "required"}]},
              {"name": "strict", "issuers": ["j"], "keys_url": "https://kc.acme.org/c", "nonce_required": true, "audiences": ["app"]}]}
            """#
        )
        #expect(settings.faults == [])
        #expect(
            settings.providers.map(\.policy.audiences) == [
                [
                    "app": AudiencePolicy(id: "app", match: .sha256, nonce: .optional, withoutNonce: .fresh),
                    "own": AudiencePolicy(id: "own", match: .raw),
                ],
                ["app": AudiencePolicy(id: "app", match: .raw)],
            ]
        )
        let hints = settings.hints.map(\.problem)
        #expect(hints.count == 5, "\(hints)")
        for (provider, word) in [
            ("kc", "\"nonce\" is a former member"), ("kc", "\"nonce_required\" is a former member"),
            ("kc", "\"audiences\" holds plain texts"), ("strict", "\"nonce_required\" is a former member"),
            ("strict", "\"audiences\" holds plain texts"),
        ] {
            #expect(hints.contains { $0.hasPrefix("provider \"\(provider)\": \(word)") }, "\(hints)")
        }
    }

    @Test(arguments: ["optional", "unknown"])
    func `Two settings that both require a nonce give a hint`(nonce: String) throws {
        let settings = try fixture.providers(
            #"{"providers":[{"name":"apple","audiences":[{"id":"a","nonce":"\#(nonce)"}]}]}"#
        )
        #expect(settings.faults == [])
        #expect(
            settings.hints.map(\.problem) == [
                #"provider "apple", audience "a": "nonce" \#(nonce) comes to the same as required, while "without_nonce" is refuse"#
            ]
        )
    }

    @Test func `The file replaces variables, with a hint`() throws {
        let settings = try fixture.providers(
            #"{"providers":[{"name":"apple","audiences":[{"id":"com.acme.file"}]}]}"#,
            [
                "VESTIBULE_IDENTITY_APPLE_AUDIENCES": "com.acme.variable",
                "VESTIBULE_IDENTITY_APPLE_TEAM_ID": "ACME000001",
                "VESTIBULE_IDENTITY_GOOGLE_AUDIENCES": "web.acme",
            ]
        )
        #expect(settings.faults == [])
        #expect(settings.providers.map(\.policy.name) == [.apple, .google])
        #expect(settings.providers.flatMap(\.policy.audiences.keys) == ["com.acme.file", "web.acme"])
        #expect(
            settings.hints.map(\.description) == [
                "VESTIBULE_IDENTITY_APPLE_AUDIENCES has no effect, since the providers file has apple",
                "VESTIBULE_IDENTITY_APPLE_TEAM_ID has no effect, since the providers file has apple",
            ]
        )
        // An invalid file isn't silently replaced by variables.
        let faulty = try fixture.providers(
            #"{"providers":[{"name":"apple"}]}"#,
            ["VESTIBULE_IDENTITY_APPLE_AUDIENCES": "com.acme.variable"]
        )
        #expect(faulty.faults.count == 1)
        #expect(faulty.providers.isEmpty)
    }

    @Test func `One person never gets two accounts through two names of a provider`() throws {
        let content =
            #"{"providers":[{"name":"g2","issuers":["accounts.google.com"],"keys_url":"https://x.org/","audiences":["a"]}]}"#
        let twins = try fixture.providers(content, ["VESTIBULE_IDENTITY_GOOGLE_AUDIENCES": "b,a"])
        #expect(
            twins.faults.map(\.problem) == [
                #"provider "google", audience "a": provider "g2" has the same issuer and audience, so that a person would have "#
                    + "two accounts"
            ]
        )
        let others = try fixture.providers(content, ["VESTIBULE_IDENTITY_GOOGLE_AUDIENCES": "b"])
        #expect(others.faults == [])
    }

    private static let appleKey = [
        "VESTIBULE_IDENTITY_APPLE_TEAM_ID": "ACME000001", "VESTIBULE_IDENTITY_APPLE_KEY_ID": "ACMEKEY001",
        "VESTIBULE_IDENTITY_APPLE_PRIVATE_KEY_FILE": "/keys/apple.p8",
    ]

    @Test func `Apple's key in variables applies to all its audiences`() throws {
        let values = Self.appleKey.merging(["VESTIBULE_IDENTITY_APPLE_AUDIENCES": "com.acme.a, com.acme.b"]) { _, new in
            new
        }
        let apple = try #require(fixture.settings(values).providers[.apple])
        #expect(apple.credentials.keys.sorted() == ["com.acme.a", "com.acme.b"])
        #expect(apple.endpoints.tokenURL == "https://appleid.apple.com/auth/token")
        let without = try #require(fixture.settings().providers[.apple])
        #expect(without.credentials.isEmpty)
    }

    /// Variables and their replacements, and the resulting errors.
    @Test(
        arguments: [
            (
                ["VESTIBULE_IDENTITY_APPLE_TEAM_ID": ""],
                ["TEAM_ID is required: a key of Apple's is a team id, a key id and a private key"]
            ),
            (
                ["VESTIBULE_IDENTITY_APPLE_KEY_ID": "", "VESTIBULE_IDENTITY_APPLE_PRIVATE_KEY_FILE": "etc/empty"],
                [
                    "KEY_ID is required: a key of Apple's is a team id, a key id and a private key",
                    "PRIVATE_KEY_FILE is required: a key of Apple's is a team id, a key id and a private key",
                ]
            ),
            (["VESTIBULE_IDENTITY_APPLE_TEAM_ID": "x"], ["TEAM_ID must be 10 capital letters and digits"]),
            (["VESTIBULE_IDENTITY_APPLE_KEY_ID": "x"], ["KEY_ID must be 10 capital letters and digits"]),
            (
                ["VESTIBULE_IDENTITY_APPLE_PRIVATE_KEY_FILE": "etc/rsa.p8"],
                ["PRIVATE_KEY_FILE must hold the private key that Apple gave (.p8): P-256, in PEM, without a password"]
            ),
            (["VESTIBULE_IDENTITY_APPLE_AUDIENCES": "com.acme.a,com.acme.a"], ["AUDIENCES holds \"com.acme.a\" twice"]),
            (
                ["VESTIBULE_IDENTITY_APPLE_AUDIENCES": "ä"],
                ["AUDIENCES holds \"ä\", which must be 1 to 255 visible ASCII characters"]
            ),
        ] as [([String: String], [String])]
    )
    func `Errors of Apple's variables are reported`(values: [String: String], faults: [String]) {
        let problems = fixture.problems(Self.appleKey.merging(values) { _, new in new })
        #expect(problems == faults.map { "VESTIBULE_IDENTITY_APPLE_\($0)" })
    }

    @Test func `Apple's key without audiences has no effect, and that is reported`() throws {
        let settings = try fixture.settings(
            Self.appleKey.merging(["VESTIBULE_IDENTITY_APPLE_AUDIENCES": ""]) { _, new in new }
        )
        #expect(settings.providers[.apple] == nil)
        #expect(settings.hints.count == 3)
        #expect(settings.hints.allSatisfy { $0.problem == "has no effect without VESTIBULE_IDENTITY_APPLE_AUDIENCES" })
    }

    @Test(arguments: [
        ("com.example.app", true), ("com.example", true), ("COM.EXAMPLE.app", true), ("org.example.x", true),
        ("example.apps.googleusercontent.com", true), ("ios.example.apps.googleusercontent.com", true),
        ("your-client-id.apps.googleusercontent.com", true), ("apps.googleusercontent.com", true), ("1234567890", true),
        ("your-client-id", true), ("com.yourcompany.app", true), ("<client id>", true), ("changeme", true),
        ("com.acme.example", false), ("com.examples.app", false), ("yourbank", false), ("12345678901234", false),
        ("407408718192.apps.googleusercontent.com", false), ("123-example.apps.googleusercontent.com", false),
    ])
    func `No placeholder is ever live`(id: String, isPlaceholder: Bool) throws {
        #expect(ProviderRules.isPlaceholder(id) == isPlaceholder)
        guard !id.contains(" ") else { return }
        for variable in ["APPLE", "GOOGLE"] {
            let key = "VESTIBULE_IDENTITY_\(variable)_AUDIENCES"
            let problems = fixture.problems([key: id])
            #expect(problems.count == (isPlaceholder ? 1 : 0))
            #expect(problems.allSatisfy { $0.hasPrefix(key) && $0.contains("is a placeholder out of an example") })
            #expect(fixture.problems([key: id, "VESTIBULE_IDENTITY_SIMULATED_PROVIDERS": "true"]) == [])
        }
    }

    /// None of the audiences that documentation and development use may be live on a server.
    @Test(arguments: [
        "com.example.app", "com.example.bare", "com.example.services", "com.example.debug",
        "example.apps.googleusercontent.com", "ios.example.apps.googleusercontent.com", "1234567890",
    ])
    func `The development configuration's ids need the development switch`(id: String) throws {
        let content = #"{"providers":[{"name":"google","audiences":[{"id":"\#(id)"}]}]}"#
        #expect(try fixture.providers(content).faults.count == 1)
        #expect(try fixture.providers(content, ["VESTIBULE_IDENTITY_SIMULATED_PROVIDERS": "true"]).faults == [])
        #expect(
            try fixture.providers(content, ["VESTIBULE_IDENTITY_KEYS_BY_HTTP": "true"]).faults == [],
            "the former name"
        )
    }
}
