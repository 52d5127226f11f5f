import IdentityDomain
import ServiceKit
import Testing

@testable import IdentityService

/// An audience that takes no nonce but ours, as the providers file says it.
struct ServerNonceSettingsTests {
    private func providers(_ audience: String) throws -> ProviderSettings {
        try SettingsFixture().providers(
            #"{"providers": [{"name": "apple", "audiences": [{"id": "com.acme.app", "nonce": "server"\#(audience)}]}]}"#
        )
    }

    @Test func `One setting enables the nonce of the server, and its description says so`() throws {
        let settings = try providers("")
        #expect(settings.faults == [] && settings.hints == [])
        let policy = try #require(settings.providers.first?.policy.audiences["com.acme.app"])
        #expect(policy.nonce == .server && policy.withoutNonce == .refuse && policy.match == .sha256)
        #expect(policy.proofInWords == "a nonce that the server made at most 10 minutes ago (sha256)")
        #expect(policy.leftOpenInWords.isEmpty)
    }

    @Test(arguments: ["code", "fresh"])
    func `Nothing can replace it`(withoutNonce: String) throws {
        let problems = try providers(#", "without_nonce": "\#(withoutNonce)""#).faults.map(\.problem)
        #expect(problems.contains { $0.contains(#""without_nonce" \#(withoutNonce) contradicts "nonce" server"#) })
    }
}
