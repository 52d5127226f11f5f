import FoundationEssentials
import IdentityDomain
import JOSE
import ServiceKit
import Testing

@testable import IdentityService

/// The command `check`, on real files in a folder of its own.
final class ConfigurationCheckTests {
    private let folder: String
    private let keyPEM: String
    private let keysFolder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.path + "/vestibule-check-\(UInt64.random(in: 0 ... .max))"
        keyPEM = try SigningKey.generateP256().pem()
        keysFolder = try SettingsFixture.keysFolder.get()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try write("apple.p8", keyPEM)
        try write("signing.pem", keyPEM)
        try write("refresh", String(repeating: "r", count: 32))
        try write("secret", "hush-hush\n")
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func write(_ name: String, _ content: String) throws {
        try Data(content.utf8).write(to: URL(filePath: "\(folder)/\(name)"))
    }

    private static let providers = #"""
        {"providers": [
          {"name": "apple", "audiences": [
            {"id": "com.acme.app", "apple_key": {"team_id": "ACME000001", "key_id": "ACMEKEY001", "private_key_file": "apple.p8"}},
            {"id": "com.acme.web", "kind": "services", "match": "either", "nonce": "optional", "without_nonce": "fresh"},
            {"id": "com.acme.code", "nonce": "optional", "without_nonce": "code", "access_token_lifetime_seconds": 60, "id_token": false,
             "apple_key": {"team_id": "ACME000001", "key_id": "ACMEKEY002", "private_key_file": "apple.p8"}}]},
          {"name": "facebook", "access_tokens": "facebook", "audiences": [{"id": "24680", "client_secret_file": "secret"}]},
          {"name": "kc", "issuers": ["https://kc.acme.org"], "keys_url": "https://kc.acme.org/c", "nonce": "sha256", "audiences": [
            {"id": "app", "nonce": "unknown", "without_nonce": "fresh"}]}]}
        """#

    private var environment: [String: String] {
        [
            "VESTIBULE_IDENTITY_SIGNING_KEY_FILE": "\(folder)/signing.pem",
            "VESTIBULE_IDENTITY_REFRESH_KEY_FILE": "\(folder)/refresh",
            "VESTIBULE_IDENTITY_KEYS_FOLDER": keysFolder,
            "VESTIBULE_DATABASE_HOST": "/tmp",
            "VESTIBULE_IDENTITY_ISSUER": "https://id.acme.org",
            "VESTIBULE_IDENTITY_PROVIDERS_FILE": "\(folder)/providers.json",
            "VESTIBULE_INVITES_OPENNESS": "confirm",
        ]
    }

    private func check(_ changes: [String: String] = [:], providersPath: String? = nil) -> ConfigurationCheck.Outcome {
        ConfigurationCheck(
            path: nil,
            providersPath: providersPath,
            environment: environment.merging(changes) { _, new in new }
        )
        .run()
    }

    @Test func `It warns that sign-ins need no proof, and in which dialect`() throws {
        try write("providers.json", Self.providers)
        let outcome = check(["VESTIBULE_IDENTITY_UNPROVEN_LOGINS": "wordpress"])
        #expect(outcome.faults == [])
        #expect(
            outcome.report.contains(
                "hint: VESTIBULE_IDENTITY_UNPROVEN_LOGINS lets in anyone who knows a user's id at the provider, without proof, "
                    + "in the dialect \"wordpress\""
            )
        )
        #expect(!check().report.joined().contains("UNPROVEN"))
    }

    @Test func `It warns what open groups reveal while phone numbers need no proof`() throws {
        try write("providers.json", Self.providers)
        func hint(_ changes: [String: String]) -> String? {
            check(changes).report.first { $0.hasPrefix("hint: VESTIBULE_IDENTITY_PHONE_ASSERTIONS_FILE") }
        }
        for openness in ["confirm", "consent"] { #expect(hint(["VESTIBULE_INVITES_OPENNESS": openness]) == nil) }
        #expect(
            hint(["VESTIBULE_INVITES_OPENNESS": "open"])?.contains("new groups are open: a stranger who types") == true
        )
        #expect(
            hint(["VESTIBULE_INVITES_OPENNESS": ""])?.contains("with VESTIBULE_INVITES_OPENNESS=open a stranger")
                == true
        )
        let former = ["VESTIBULE_INVITES_OPENNESS": "", "VESTIBULE_INVITES_GROUP_OPENNESS": "open"]
        #expect(hint(former)?.contains("new groups are open") == true)
        // A check of providers alone says nothing about groups.
        let alone = check(["VESTIBULE_INVITES_OPENNESS": "open"], providersPath: "\(folder)/providers.json")
        #expect(!alone.report.joined().contains("OPENNESS"))
    }

    @Test func `It lists the resulting settings of each provider and audience`() throws {
        try write("providers.json", Self.providers)
        let outcome = check()
        #expect(outcome.faults == [])
        #expect(outcome.report.joined(separator: "\n") == Self.report)
        #expect(!outcome.report.joined().contains("hush"))
        #expect(!outcome.report.joined().contains(folder))
    }

    private static let report = #"""
        apple
          issuer         https://appleid.apple.com
          algorithms     RS256
          keys           https://appleid.apple.com/auth/keys
          authorization  https://appleid.apple.com/auth/authorize
          token          https://appleid.apple.com/auth/token
          revocation     https://appleid.apple.com/auth/revoke
          user migration https://appleid.apple.com/auth/usermigrationinfo
          access tokens  do not sign in
          audience com.acme.app (native)
            proof          the nonce (sha256)
            code           signs in by itself too; exchanged with key ACMEKEY001 of team ACME000001
          audience com.acme.code (native)
            proof          the nonce (sha256); for a token without one, the authorization code that comes along
            code           signs in by itself too; exchanged with key ACMEKEY002 of team ACME000001
            our tokens     live 60 seconds, no ID token among them
          audience com.acme.web (services)
            proof          the nonce (either); for a token without one, that it is at most 10 minutes old and was not used
            code           cannot be exchanged, without an apple_key
            leaves open    another backend of this audience could use a token first; a token that an SDK restored silently is answered with "sign in again"
            leaves open    the nonce can be read in the token: a thief who steals one before its owner used it can sign in with it

        facebook
          issuer         https://facebook.com, https://www.facebook.com
          algorithms     RS256
          keys           https://limited.facebook.com/.well-known/oauth/openid/jwks/
          debug_token    https://graph.facebook.com/debug_token
          userinfo       https://graph.facebook.com/me
          access tokens  sign in, as proven by access token only
          audience 24680 (native)
            proof          the nonce (either)
            code           cannot be exchanged, without a token_url
            leaves open    the nonce can be read in the token: a thief who steals one before its owner used it can sign in with it

        kc
          issuer         https://kc.acme.org
          algorithms     RS256
          keys           https://kc.acme.org/c
          access tokens  do not sign in
          audience app (native)
            proof          the nonce (sha256) where the app knows it, else that the token is at most 10 minutes old and was not used
            code           cannot be exchanged, without a token_url
            leaves open    another backend of this audience could use a token first; a token that an SDK restored silently is answered with "sign in again"

        hint: VESTIBULE_IDENTITY_PROVIDERS_FILE provider "kc": "nonce" is a former member: give each audience a "match"
        the configuration of identity: providers in order 3, audiences 5, faults 0
        """#

    @Test func `All errors are reported together, each once, of providers and everything else`() throws {
        try write(
            "providers.json",
            #"{"providers":[{"name":"apple","audiences":[{"id":"a","kind":"x"}]},{"name":"google"}]}"#
        )
        let outcome = check([
            "VESTIBULE_IDENTITY_ISSUER": "", "VESTIBULE_IDENTITY_LISTEN": "nonsense",
            "VESTIBULE_IDENTITY_SIGNING_KEY_FILE": "\(folder)/none",
        ])
        #expect(outcome.faults.count == 5, "\(outcome.faults)")
        let words = [
            "LISTEN", "ISSUER is required", "none, which cannot be opened", #"provider "apple""#, #"provider "google""#,
        ]
        for word in words {
            #expect(outcome.faults.contains { $0.contains(word) }, "\(word): \(outcome.faults)")
        }
        // The same error is found in two ways, and reported once.
        let second = check(["VESTIBULE_IDENTITY_ISSUER": ""])
        #expect(second.faults.count == 3, "\(second.faults)")
        #expect(second.faults.contains { $0.contains("VESTIBULE_IDENTITY_ISSUER is required") })
    }

    @Test func `Errors that would keep it from serving are reported too`() throws {
        try write("providers.json", Self.providers)
        let exposed = check(["VESTIBULE_IDENTITY_LISTEN": "0.0.0.0:7001"])
        #expect(exposed.faults.count == 1)
        #expect(exposed.faults.first?.contains("is not on loopback, and so needs") == true)
        let misspelt = check(["VESTIBULE_IDENTITY_ISSUERS": "x"])
        #expect(misspelt.faults == [])
        #expect(misspelt.report.contains { $0.hasPrefix("hint: VESTIBULE_IDENTITY_ISSUERS is in the environment") })
    }

    @Test func `A providers file can be checked alone, without identity's secrets`() throws {
        try write("other.json", Self.providers)
        let environment = ["VESTIBULE_IDENTITY_APPLE_AUDIENCES": "com.acme.variable"]
        let good = ConfigurationCheck(path: nil, providersPath: "\(folder)/other.json", environment: environment).run()
        #expect(good.faults == [])
        #expect(
            good.report.last == "the providers of \(folder)/other.json: providers in order 3, audiences 5, faults 0"
        )
        #expect(!good.report.contains { $0.contains("VARIABLE") || $0.contains("APPLE_AUDIENCES") })
        let none = ConfigurationCheck(path: nil, providersPath: "\(folder)/none.json", environment: [:]).run()
        #expect(none.faults.count == 1)
        #expect(none.faults.first?.contains("none.json, which cannot be opened") == true)
        try write("other.json", #"{"providers":[]}"#)
        let empty = ConfigurationCheck(path: nil, providersPath: "\(folder)/other.json", environment: [:]).run()
        #expect(empty.faults.count == 1, "nobody could sign in")
    }

    @Test func `The development switch also applies to a providers file alone`() throws {
        try write(
            "dev.json",
            #"{"providers":[{"name":"apple","keys_url":"http://127.0.0.1:7080/k","audiences":[{"id":"com.example.app"}]}]}"#
        )
        let path = "\(folder)/dev.json"
        for (name, faultCount) in [
            ("VESTIBULE_IDENTITY_SIMULATED_PROVIDERS", 0), ("VESTIBULE_IDENTITY_KEYS_BY_HTTP", 0),
            ("VESTIBULE_NO_SUCH", 2),
        ] {
            let outcome = ConfigurationCheck(path: nil, providersPath: path, environment: [name: "true"]).run()
            #expect(outcome.faults.count == faultCount, "\(outcome.faults)")
        }
    }
}
