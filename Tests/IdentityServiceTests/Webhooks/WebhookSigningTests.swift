import IdentityDomain
import JOSE
import Postgres
import Testing

@testable import IdentityService

/// Messages of webhooks, and when they are retried.
struct WebhookSigningTests {
    /// The example of the Standard Webhooks libraries' own tests.
    @Test func `A message is signed as the standard's own example`() throws {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let signature = secret.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp: 1_614_265_330,
            body: Array(#"{"test": 2432232314}"#.utf8)
        )
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test(arguments: [
        "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZI",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2La LaSw",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa_w",
        "whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsec_" + String(repeating: "A", count: 88),
    ])
    func `A malformed secret is rejected`(text: String) {
        #expect(WebhookSecret(text) == nil)
    }

    @Test func `A secret is never printed`() throws {
        let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let secret = try #require(WebhookSecret(text))
        var dumped = ""
        dump(WebhookTargets.target(secrets: [secret]), to: &dumped)
        for shown in ["\(secret)", String(reflecting: secret), "\(WebhookTargets.target(secrets: [secret]))", dumped] {
            #expect(!shown.contains("MfKQ") && !shown.contains("49, 242"))
        }
    }
}
