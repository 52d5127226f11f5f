import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import ServiceKit
import Testing

@testable import IdentityService

/// What a provider's answers show of credentials.
struct ProviderTrialTests {
    private static let keysURL = "https://kc.acme.org/keys"
    private static let tokenURL = "https://kc.acme.org/token"

    private func findings(
        algorithms: [SignatureAlgorithm] = [.es256],
        keys: KeySet? = nil,
        answer: @escaping @Sendable (_ secret: String?) -> (Int, String)
    ) async throws -> [ProviderTrial.Finding] {
        let keys = try keys ?? KeySet([SigningKey.generateP256()])
        let http = TestHTTP()
        http.answer { request throws(OutgoingHTTPError) in
            if request.url == Self.keysURL { return OutgoingResponse(status: 200, body: keys.json.serialized()) }
            let (status, body) = answer(request.field("client_secret"))
            return OutgoingResponse(status: status, body: Array(body.utf8))
        }
        let provider = ProviderConfiguration(
            policy: try ProviderPolicy(
                name: #require(ProviderName("kc")),
                issuers: ["https://kc.acme.org"],
                audiences: [AudiencePolicy(id: "app", match: .raw)],
                algorithms: algorithms,
                keysURL: Self.keysURL
            ),
            endpoints: ProviderEndpoints(tokenURL: Self.tokenURL),
            credentials: ["app": .secret(Secret("hush"))]
        )
        return await ProviderTrial(provider: provider, http: http, clock: .system, redirectURI: "https://id.acme.org/")
            .run()
    }

    @Test func `Credentials are right if only a wrong secret is refused as such`() async throws {
        let found = try await findings {
            $0 == "hush" ? (400, #"{"error":"invalid_grant"}"#) : (401, #"{"error":"invalid_client"}"#)
        }
        #expect(found.map(\.isFault) == [false, false])
        #expect(found[0].text.hasSuffix("keys that sign ID tokens: 1"))
        #expect(found[1].text.contains("are right: to a made-up code its answer is invalid_grant"))
    }

    @Test func `The same answer to both proves nothing`() async throws {
        let found = try await findings { _ in (400, #"{"error":"invalid_grant"}"#) }
        #expect(found[1].text.contains("could NOT be proven") && !found[1].isFault)
    }

    @Test(arguments: [
        (401, #"{"error":"invalid_client"}"#, "are wrong: its answer to them is invalid_client"),
        (404, "", "are wrong: its answer to them is status 404"),
        (500, "", "couldn't be tried: it is not available now"),
        (200, #"{"id_token":"x"}"#, "couldn't be tried: its answer makes no sense"),
    ])
    func `Any other answer is a fault`(status: Int, body: String, text: String) async throws {
        let found = try await findings { _ in (status, body) }
        #expect(found[1].isFault && found[1].text.contains(text))
    }

    @Test func `Keys of other algorithms are no keys`() async throws {
        let found = try await findings(algorithms: [.rs256]) { _ in (400, "{}") }
        #expect(found[0].isFault && found[0].text.contains("has no key of the configured algorithms"))
    }
}
