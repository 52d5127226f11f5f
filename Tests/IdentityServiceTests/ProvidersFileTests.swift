import IdentityDomain
import JOSE
import ServiceKit
import Testing

@testable import IdentityService

struct ProvidersFileTests {
    private let fixture: SettingsFixture

    init() throws {
        fixture = try SettingsFixture()
    }

    private static func file(_ provider: String) -> String { #"{"providers":[\#(provider)]}"# }

    private static func apple(_ audience: String) -> String {
        file(#"{"name":"apple","audiences":[{"id":"com.acme.app"\#(audience.isEmpty ? "" : ",\(audience)")}]}"#)
    }

    private static func google(_ audience: String) -> String {
        file(#"{"name":"google","audiences":[{"id":"web.acme"\#(audience.isEmpty ? "" : ",\(audience)")}]}"#)
    }

    private static func other(_ members: String) -> String {
        file(
            #"{"name":"kc","issuers":["https://kc.acme.org"],"keys_url":"https://kc.acme.org/certs","audiences":[{"id":"app"}]"#
                + (members.isEmpty ? "}" : ",\(members)}")
        )
    }

    private static let p = #"provider "kc": "#
    private static let a = #"provider "apple", audience "com.acme.app": "#
    private static let g = #"provider "google", audience "web.acme": "#
    private static let appleKey = #""team_id":"ACME000001","key_id":"ACMEKEY001""#

    /// A file, and its only error.
    static let faults: [(file: String, fault: String)] =
        wholeFile + names + ofProvider + ofAudience + contradictions + ofKeys + placeholders

    private static let wholeFile: [(String, String)] = [
        ("[]", "holds no JSON object: it holds something else"),
        ("{\n\n]", "holds no JSON object: line 3 is not as RFC 8259 has it"),
        (#"{"providers":[],"providers":[]}"#, "holds no JSON object: an object has a member twice"),
        (#"{"providers":[[[[[[[[[]]]]]]]]]}"#, "holds no JSON object: it is nested deeper than 8"),
        ("{}", #"must hold an array "providers" of at most 32"#),
        (#"{"providers":{}}"#, #"must hold an array "providers" of at most 32"#),
        (
            #"{"providers":[\#(Array(repeating: "1", count: 33).joined(separator: ","))]}"#,
            #"must hold an array "providers" of at most 32"#
        ),
    ]

    private static func reserved(_ name: String) -> String {
        #"provider 1: "name" must not be \#(name): a path of ours, /auth/\#(name), is called so"#
    }

    private static let names: [(String, String)] = [
        (file("1"), "provider 1: is no object"),
        (
            file("{}"),
            #"provider 1: "name" must be up to 32 lowercase letters, digits, _ and -, beginning with a letter"#
        ),
        (
            file(#"{"name":"Apple"}"#),
            #"provider 1: "name" must be up to 32 lowercase letters, digits, _ and -, beginning with a letter"#
        ),
        (file(#"{"name":"refresh"}"#), reserved("refresh")),
        (file(#"{"name":"sign-out","audiences":[{"id":"a"}]}"#), reserved("sign-out")),
        (file(#"{"name":"v1"}"#), reserved("v1")),
        (file(#"{"name":"sessions"}"#), reserved("sessions")),
        (file(#"{"name":"sign-out-everywhere"}"#), reserved("sign-out-everywhere")),
        (
            file(#"{"name":"apple","audiences":[{"id":"a"}]},{"name":"apple","audiences":[{"id":"b"}]}"#),
            #"provider "apple": is there twice"#
        ),
        (
            file(
                #"{"name":"google","audiences":[{"id":"a"}]},{"name":"g2","issuers":["accounts.google.com"],"#
                    + #""keys_url":"https://x.org","audiences":[{"id":"a"}]}"#
            ),
            #"provider "google", audience "a": provider "g2" has the same issuer and audience, so that a person would have "#
                + "two accounts"
        ),
    ]

    private static let ofProvider: [(String, String)] = [
        (other(#""user_migration_url":"https://kc.acme.org/m""#), p + #""user_migration_url" has a use at Apple only"#),
        (other(#""display_name":"K""#), p + #""display_name" must be 2 to 50 characters that can be seen"#),
        (other(#""display_name":5"#), p + #""display_name" must be a text of 1 to 2000 bytes"#),
        (
            file(#"{"name":"apple","display_name":"Apple ID","audiences":[{"id":"com.acme.app"}]}"#),
            #"provider "apple": "display_name" has no use at this provider, whose guidelines say how it is named"#
        ),
        (other(#""client_secret":"hush-hush""#), p + #"has an unknown member "client_secret""#),
        (
            other(#""issuer_aliases":"x""#),
            p + #""issuer_aliases" must be an array of texts of 1 to 255 bytes, at most 63"#
        ),
        (
            other(#""issuer_aliases":[""]"#),
            p + #""issuer_aliases" must be an array of texts of 1 to 255 bytes, at most 63"#
        ),
        (
            file(#"{"name":"kc","keys_url":"https://x.org","audiences":[{"id":"app"}]}"#),
            p + #""issuers" is required, with one issuer"#
        ),
        (
            file(#"{"name":"kc","issuers":["a","b"],"keys_url":"https://x.org","audiences":[{"id":"app"}]}"#),
            p
                + #""issuers" may hold one: what is another spelling of it belongs into "issuer_aliases", and what issues "#
                + "subjects of its own is another provider"
        ),
        (file(#"{"name":"kc","issuers":["a"],"audiences":[{"id":"app"}]}"#), p + #""keys_url" is required"#),
        (
            other(#""algorithms":["none"]"#),
            p + #""algorithms" must hold one or several of RS256, RS384, RS512, PS256, ES256, ES384"#
        ),
        (
            other(#""algorithms":[]"#),
            p + #""algorithms" must hold one or several of RS256, RS384, RS512, PS256, ES256, ES384"#
        ),
        (other(#""clock_leeway_seconds":601"#), p + #""clock_leeway_seconds" must be a whole number from 0 to 600"#),
        (
            other(#""token_age_max_seconds":"1h""#),
            p + #""token_age_max_seconds" must be a whole number from 60 to 604800"#
        ),
        (other(#""token_url":1"#), p + #""token_url" must be a text of 1 to 2048 bytes"#),
        (
            other(#""token_url":"https://u:hush@x.org/""#),
            p
                + #""token_url" must be an https URL; http is allowed for 127.0.0.1, [::1], localhost and names under .test only"#
        ),
        (
            other(#""token_url":"http://127.0.0.1:1/""#),
            p
                + #""token_url" must be an https URL, unless VESTIBULE_IDENTITY_SIMULATED_PROVIDERS is true, for development"#
        ),
        (
            other(#""user_info_url":"https://x.org/?a=b""#),
            p + #""user_info_url" must be without a query: what is asked is added to it"#
        ),
        (other(#""access_tokens":"twitter""#), p + #""access_tokens" must be one of facebook, google"#),
        (
            other(#""access_tokens":"google","user_info_url":"https://x.org/u""#),
            p + #""access_tokens" google needs "token_info_url""#
        ),
        (
            file(
                #"{"name":"google","access_tokens":"facebook","debug_token_url":"https://x.org/","audiences":[{"id":"web.acme","client_secret_file":"secret"}]}"#
            ),
            #"provider "google": "access_tokens" must be google at this provider"#
        ),
        (other(#""nonce":"never""#), p + #""nonce" must be one of sha256, raw, either"#),
        (other(#""nonce_required":"no""#), p + #""nonce_required" must be true or false"#),
        (file(#"{"name":"apple"}"#), #"provider "apple": "audiences" must be an array of 1 to 64 audiences"#),
        (
            file(#"{"name":"apple","audiences":[]}"#),
            #"provider "apple": "audiences" must be an array of 1 to 64 audiences"#
        ),
        (
            file(#"{"name":"apple","audiences":"com.acme.app"}"#),
            #"provider "apple": "audiences" must be an array of 1 to 64 audiences"#
        ),
        (
            file(#"{"name":"apple","audiences":[{}]}"#),
            #"provider "apple": audience 1 must be an object with a text "id""#
        ),
        (
            file(#"{"name":"apple","audiences":[{"id":"a"},{"id":1}]}"#),
            #"provider "apple": audience 2 must be an object with a text "id""#
        ),
    ]

    private static let ofAudience: [(String, String)] = [
        (
            file(#"{"name":"apple","audiences":[{"id":""}]}"#),
            #"provider "apple", audience "": "id" must be 1 to 255 visible ASCII characters"#
        ),
        (
            file(#"{"name":"apple","audiences":["a b"]}"#),
            #"provider "apple", audience "a b": "id" must be 1 to 255 visible ASCII characters"#
        ),
        (file(#"{"name":"apple","audiences":[{"id":"a"},"a"]}"#), #"provider "apple", audience "a": is there twice"#),
        (apple(#""team":"x""#), a + #"has an unknown member "team""#),
        (apple(#""kind":"ios""#), a + #""kind" must be one of native, services, web"#),
        (apple(#""match":"hash""#), a + #""match" must be one of sha256, raw, either"#),
        (apple(#""nonce":null"#), a + #""nonce" must be one of required, server, optional, unknown"#),
        (
            apple(#""nonce":"optional","without_nonce":"allow""#),
            a + #""without_nonce" must be one of refuse, code, fresh"#
        ),
        (
            apple(#""access_token_lifetime_seconds":29"#),
            a + #""access_token_lifetime_seconds" must be a whole number from 30 to 3600"#
        ),
        (
            apple(#""access_token_lifetime_seconds":3601"#),
            a + #""access_token_lifetime_seconds" must be a whole number from 30 to 3600"#
        ),
        (
            apple(#""access_token_lifetime_seconds":60.5"#),
            a + #""access_token_lifetime_seconds" must be a whole number from 30 to 3600"#
        ),
        (apple(#""id_token":"no""#), a + #""id_token" must be true or false"#),
        (
            google(#""client_secret_file":"none""#),
            g + #""client_secret_file" names the file etc/none, which cannot be opened: No such file or directory"#
        ),
        (
            google(#""client_secret_file":"empty""#),
            g + #""client_secret_file" names the file etc/empty, which is empty"#
        ),
        (
            google(#""client_secret_file":"large""#),
            g + #""client_secret_file" names the file etc/large, which is longer than 4096 bytes"#
        ),
        (
            google(#""client_secret_file":"two-lines""#),
            g + #""client_secret_file" must hold visible ASCII characters in one line"#
        ),
    ]

    private static let contradictions: [(String, String)] = [
        (
            apple(#""without_nonce":"fresh""#),
            a
                + #""without_nonce" fresh contradicts "nonce" required, which takes no token without a proven nonce; say optional or unknown"#
        ),
        (
            apple(
                #""nonce":"required","without_nonce":"code","apple_key":{\#(appleKey),"private_key_file":"apple.p8"}"#
            ),
            a
                + #""without_nonce" code contradicts "nonce" required, which takes no token without a proven nonce; say optional or unknown"#
        ),
        (
            apple(#""nonce":"optional","without_nonce":"code""#),
            a
                + #""without_nonce" code needs "apple_key" or "client_secret_file", without which no code can be exchanged"#
        ),
        (
            google(#""nonce":"unknown","without_nonce":"code""#),
            g
                + #""without_nonce" code needs "apple_key" or "client_secret_file", without which no code can be exchanged"#
        ),
        (
            file(
                #"{"name":"facebook","audiences":[{"id":"24680","nonce":"optional","without_nonce":"code","client_secret_file":"secret"}]}"#
            ),
            #"provider "facebook": audience "24680" needs "token_url", since its "without_nonce" is code"#
        ),
        (
            file(#"{"name":"facebook","access_tokens":"facebook","audiences":[{"id":"24680"}]}"#),
            #"provider "facebook": audience "24680" needs "client_secret_file", since "access_tokens" is facebook: it is asked for whom "#
                + "a token was issued in the app's own name"
        ),
        (
            file(
                #"{"name":"apple","access_tokens":"google","token_info_url":"https://x.org/","user_info_url":"https://x.org/","audiences":[{"id":"a"}]}"#
            ),
            #"provider "apple": "access_tokens" has no use at Apple, whose access tokens name nobody"#
        ),
        (
            google(#""kind":"services""#),
            g + #""kind" services is a Services ID of Apple; another provider's client of a website is web"#
        ),
        (
            apple(#""client_secret_file":"secret""#),
            a + #""client_secret_file" has no use at Apple, where "apple_key" signs a secret for each call"#
        ),
        (
            google(#""apple_key":{\#(appleKey),"private_key_file":"apple.p8"}"#),
            g + #""apple_key" has a use at Apple only"#
        ),
    ]

    private static let k = #"provider "apple", audience "com.acme.app", apple_key: "#
    private static let badKey = "must hold the private key that Apple gave (.p8): P-256, in PEM, without a password"
    private static let ofKeys: [(String, String)] = [
        (apple(#""apple_key":"apple.p8""#), a + #""apple_key" must be an object"#),
        (apple(#""apple_key":{\#(appleKey)}"#), k + #""private_key_file" is required"#),
        (apple(#""apple_key":{"key_id":"ACMEKEY001","private_key_file":"apple.p8"}"#), k + #""team_id" is required"#),
        (
            apple(#""apple_key":{"team_id":"","key_id":"ACMEKEY001","private_key_file":"apple.p8"}"#),
            k + #""team_id" must be a text of 1 to 255 bytes"#
        ),
        (
            apple(#""apple_key":{"team_id":"acme000001","key_id":"ACMEKEY001","private_key_file":"apple.p8"}"#),
            k + #""team_id" must be 10 capital letters and digits"#
        ),
        (
            apple(#""apple_key":{"team_id":"ACME000001","key_id":"ACMEKEY1","private_key_file":"apple.p8"}"#),
            k + #""key_id" must be 10 capital letters and digits"#
        ),
        (
            apple(#""apple_key":{\#(appleKey),"private_key_file":"apple.p8","password":"x"}"#),
            k + #"has an unknown member "password""#
        ),
        (
            apple(#""apple_key":{\#(appleKey),"private_key_file":"none.p8"}"#),
            k + #""private_key_file" names the file etc/none.p8, which cannot be opened: No such file or directory"#
        ),
        (
            apple(#""apple_key":{\#(appleKey),"private_key_file":"empty"}"#),
            k + #""private_key_file" names the file etc/empty, which is empty"#
        ),
        (
            apple(#""apple_key":{\#(appleKey),"private_key_file":"large"}"#),
            k + #""private_key_file" names the file etc/large, which is longer than 16384 bytes"#
        ),
        (apple(#""apple_key":{\#(appleKey),"private_key_file":"secret"}"#), k + #""private_key_file" \#(badKey)"#),
        (apple(#""apple_key":{\#(appleKey),"private_key_file":"rsa.p8"}"#), k + #""private_key_file" \#(badKey)"#),
    ]

    private static let placeholder =
        "is a placeholder out of an example. It could be the id of somebody else's app, whose tokens would sign in here; only "
        + "where VESTIBULE_IDENTITY_SIMULATED_PROVIDERS is true, for development, is it taken"
    private static let placeholders: [(String, String)] = [
        (
            file(#"{"name":"apple","audiences":[{"id":"com.example.app"}]}"#),
            #"provider "apple", audience "com.example.app": "id" \#(placeholder)"#
        ),
        (
            apple(#""apple_key":{"team_id":"ABCDE12345","key_id":"ACMEKEY001","private_key_file":"apple.p8"}"#),
            k + #""team_id" \#(placeholder)"#
        ),
        (
            apple(#""apple_key":{"team_id":"ACME000001","key_id":"KEY1234567","private_key_file":"apple.p8"}"#),
            k + #""key_id" \#(placeholder)"#
        ),
    ]

    @Test(arguments: faults)
    func `Each error is reported with provider and audience`(file: String, fault: String) throws {
        let settings = try fixture.providers(file)
        #expect(settings.faults.map(\.description) == ["\(SettingsFixture.providersFile) \(fault)"])
    }

    @Test func `All errors of a file are reported together, without any value`() throws {
        let settings = try fixture.providers(
            #"""
            {"hush-hush": 1, "providers": [
              {"name": "apple", "key": "hush-hush", "audiences": [
                {"id": "a", "kind": "hush-hush", "apple_key": {"team_id": "hush-hush"}},
                {"id": "b", "match": "hush-hush", "nonce": "hush-hush", "without_nonce": 7}]},
              {"name": "google", "access_tokens": "hush-hush", "audiences": [
                {"id": "c", "client_secret_file": "two-lines", "access_token_lifetime_seconds": "hush-hush"}]},
              {"name": "kc", "issuers": ["i"], "keys_url": "hush-hush", "algorithms": ["hush-hush"], "audiences": 1}]}
            """#
        )
        #expect(settings.faults.count == 15, "\(settings.faults)")
        #expect(settings.faults.allSatisfy { $0.key == SettingsFixture.providersFile })
        // The name of the unknown member is shown, so that it can be found.
        #expect(settings.faults.count { $0.problem.contains("hush") } == 1)
        #expect(settings.providers.isEmpty)
    }

    @Test func `The longest file is read, with the maximum of everything`() throws {
        func texts(_ prefix: String) -> String {
            (0..<64).map { #"{"id":"\#(prefix)-\#($0)","nonce":"unknown","without_nonce":"fresh","match":"either"}"# }
                .joined(separator: ",")
        }
        let providers = (0..<32).map {
            #"{"name":"p\#($0)","issuers":["i\#($0)"],"keys_url":"https://x.org/","audiences":[\#(texts("a\($0)"))]}"#
        }
        let content = #"{"providers":[\#(providers.joined(separator: ","))]}"#
        #expect(content.utf8.count < ProvidersFile.bytesMax)
        let settings = try fixture.providers(content)
        #expect(settings.faults == [])
        #expect(settings.providers.count == 32)
        #expect(settings.providers.allSatisfy { $0.policy.audiences.count == 64 })
        let tooLong = #expect(throws: ConfigurationErrors.self) {
            try fixture.providers(content + String(repeating: " ", count: ProvidersFile.bytesMax))
        }
        #expect(tooLong?.faults.first?.problem.contains("longer than 262144 bytes") == true)
    }
}
