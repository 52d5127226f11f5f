import FoundationEssentials
import IdentityDomain
import ServiceKit
import Testing

@testable import IdentityService

/// What the page about providers and audiences says holds.
struct ProvidersPageTests {
    private let page: String

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let path = "docs/providers/providers-and-audiences.md"
        page = String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
    }

    private func example() throws -> String {
        let start = try #require(page.firstRange(of: "```json\n"))
        let rest = page[start.upperBound...]
        let end = try #require(rest.firstRange(of: "```"))
        return String(rest[..<end.lowerBound])
    }

    private func settings(_ values: [String: String]) throws -> ProviderSettings {
        let fixture = try SettingsFixture()
        let key = Array(fixture.signingPEM.utf8)
        let configuration = try fixture.configuration(
            SettingsFixture.noAudiences.merging([SettingsFixture.providersFile: "etc/providers.json"]) { _, new in new }
                .merging(values) { _, new in new },
            files: [
                "etc/providers.json": Array(try example().utf8), "etc/debug.p8": key, "etc/google-secret": [0x61],
                "etc/facebook-secret": [0x61],
            ]
        )
        return ProviderSettings(configuration)
    }

    @Test func `Its example is in order`() throws {
        let settings = try settings(["VESTIBULE_IDENTITY_SIMULATED_PROVIDERS": "true"])
        #expect(settings.faults == [])
        #expect(settings.hints == [])
        #expect(settings.providers.map(\.policy.name.value) == ["apple", "facebook", "google", "keycloak"])
        #expect(settings.providers.map(\.policy.audiences.count) == [4, 1, 2, 1])
    }

    @Test func `Its example can't be live: each audience of a known provider is refused`() throws {
        let settings = try settings([:])
        #expect(settings.providers.map(\.policy.name.value) == ["keycloak"])
        for id in [
            "com.example.app", "com.example.bare", "com.example.debug", "com.example.services",
            "example.apps.googleusercontent.com", "ios.example.apps.googleusercontent.com", "1234567890",
        ] {
            let place = "audience \"\(id)\": \"id\" is a placeholder"
            #expect(settings.faults.contains { $0.problem.contains(place) }, "\(id)")
        }
        #expect(settings.faults.count { $0.problem.contains("\"key_id\" is a placeholder") } == 3)
        #expect(settings.faults.count { $0.problem.contains("\"team_id\" is a placeholder") } == 3)
    }

    @Test func `The page documents every member and every value`() {
        let words =
            AudiencePolicy.Kind.allCases.map(\.rawValue) + AudiencePolicy.Nonce.allCases.map(\.rawValue)
            + AudiencePolicy.WithoutNonce.allCases.map(\.rawValue) + NonceMatch.allCases.map(\.rawValue)
            + AccessTokenKind.allCases.map(\.rawValue) + ["team_id", "key_id", "private_key_file"]
        for name in ProviderEntry.members.union(AudienceEntry.members).union(words) {
            #expect(page.contains("`\(name)`"), "\(name)")
        }
    }
}
