import Models
import Testing

@testable import AccountImport

/// Ids, times and providers.
struct ValueTests {
    @Test func `A UUID stays, and any other id becomes the one that everybody can compute`() throws {
        let uuid = "0190163D-8694-739b-aea5-966c26f8ad91"
        #expect(ImportedID.userID(of: uuid, source: "x") == UserID(uuid))
        let made = try #require(ImportedID.userID(of: "Yh3Xk9", source: "firebase"))
        // python3: uuid.uuid5(uuid.UUID("9b1f6c02-5d3e-4f0a-8e47-a1c370d2b96e"), "firebase:Yh3Xk9")
        #expect(made.description == "25433b3c-3eaf-5741-b685-62cedcd50d1b")
        #expect(ImportedID.userID(of: "Yh3Xk9", source: "other") != made)
        let dns = try #require(UserID("6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
        // RFC 9562, appendix A.4.
        #expect(ImportedID.named("www.example.com", in: dns)?.description == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
        for bad in [
            "", String(repeating: "a", count: 129), "a\nb", "a\u{202E}b", "00000000-0000-0000-0000-000000000000",
        ] {
            #expect(ImportedID.userID(of: bad, source: "x") == nil, "\(bad)")
        }
    }

    @Test(arguments: [
        ("2024-05-01T12:00:00Z", 1_714_564_800_000), ("2024-05-01 12:00:00+00", 1_714_564_800_000),
        ("2024-05-01 12:00:00.123456+00", 1_714_564_800_123), ("2024-05-01T20:00:00.5+08:00", 1_714_564_800_500),
        ("2024-05-01 12:00:00 UTC", 1_714_564_800_000), ("2024-05-01 06:30:00-0530", 1_714_564_800_000),
        ("Wed, 01 May 2024 12:00:00 GMT", 1_714_564_800_000), ("1714564800", 1_714_564_800_000),
        ("1714564800123", 1_714_564_800_123), ("1689980857.949", 1_689_980_857_949),
        ("2024-05-01", 1_714_521_600_000), ("2000-02-29T00:00:00Z", 951_782_400_000), ("1970-01-01", 0),
        ("2024-12-31 23:59:60Z", 1_735_689_599_000),
    ])
    func `Times are read as exports write them`(text: String, milliseconds: Int64) {
        #expect(ImportTime.milliseconds(text) == milliseconds)
    }

    @Test(arguments: [
        "", "yesterday", "2024-13-01", "2024-02-30", "2023-02-29T00:00:00Z", "1900-01-01", "2024-05-01T25:00:00Z",
        "2024-05-01T12:00:00+08:00x", "1e9", "-5", "infinity", "2024-05-01T12:00", "Wed, 01 Foo 2024 12:00:00 GMT",
        "99999999999999999999",
    ])
    func `A malformed time is rejected`(text: String) {
        #expect(ImportTime.milliseconds(text) == nil)
    }

    @Test func `Providers are those that are configured, by the names that everybody knows or an operator says`() {
        let names = ProviderNames(["Line": "line", "google": "workforce"], configured: ["google", "apple", "line"])
        #expect(names.meaning(of: "google.com") == .provider("google"))
        #expect(names.meaning(of: "SignInWithApple") == .provider("apple"))
        #expect(names.meaning(of: "apple") == .provider("apple"))
        #expect(names.meaning(of: "Line") == .provider("line"))
        #expect(names.meaning(of: "google") == .unknown, "what an operator says counts alone")
        #expect(names.meaning(of: "facebook.com") == .unknown)
        for way in ["email", "phone", "password"] { #expect(names.meaning(of: way) == .way(way)) }
    }
}
