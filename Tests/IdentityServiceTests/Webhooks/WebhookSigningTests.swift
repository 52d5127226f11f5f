import IdentityDomain
import JOSE
import Postgres
import Testing

@testable import IdentityService

/// Messages of webhooks, and when they are told again.
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
    func `What is no secret is none`(text: String) {
        #expect(WebhookSecret(text) == nil)
    }

    @Test func `A secret is printed nowhere`() throws {
        let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let secret = try #require(WebhookSecret(text))
        var dumped = ""
        dump(WebhookTargets.target(secrets: [secret]), to: &dumped)
        for shown in ["\(secret)", String(reflecting: secret), "\(WebhookTargets.target(secrets: [secret]))", dumped] {
            #expect(!shown.contains("MfKQ") && !shown.contains("49, 242"))
        }
    }

    @Test func `Pauses grow to six hours, and the last try is after three days`() {
        var now: Int64 = 0
        var pauses: [Int64] = []
        while let next = WebhookPauses.next(
            tries: pauses.count + 1,
            triedFromMilliseconds: 0,
            nowMilliseconds: now,
            random: 0.5
        ) {
            pauses.append((next - now) / 1000)
            now = next
        }
        #expect(pauses.prefix(9) == [5, 15, 45, 135, 405, 1_215, 3_645, 10_935, 21_600])
        #expect(pauses.allSatisfy { $0 <= 21_600 })
        #expect(now == 3 * 86_400_000)
        #expect(pauses.count == 20)
    }

    @Test(arguments: [0.0, 0.5, 0.999_999], [1, 2, 5, 9, 10, 1_000, Int(Int32.max)])
    func `A pause is a quarter more or less by chance, and as long as the target wishes`(random: Double, tries: Int)
        throws
    {
        func pause(_ wish: Int64 = 0) throws -> Int64 {
            try #require(
                WebhookPauses.next(
                    tries: tries,
                    triedFromMilliseconds: 0,
                    wishMilliseconds: wish,
                    nowMilliseconds: 0,
                    random: random
                )
            )
        }
        let middles: [Int: Int64] = [1: 5_000, 2: 15_000, 5: 405_000]
        let middle = Double(middles[tries] ?? 21_600_000)
        let usual: Int64 = try pause()
        let difference = Double(usual) - middle * (0.75 + random / 2)
        #expect(difference.magnitude <= 1)
        let hour: Int64 = try pause(3_600_000)
        #expect(hour == max(usual, 3_600_000))
        let longest: Int64 = try pause(.max)
        #expect(longest == max(usual, 21_600_000))
    }
}
