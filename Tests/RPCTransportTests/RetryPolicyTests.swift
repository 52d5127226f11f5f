import RPC
import Testing

@testable import RPCTransport

/// What the policy decides, without a network.
struct RetryPolicyTests {
    private func waits(
        _ policy: RetryPolicy,
        code: Status.Code = .unavailable,
        pushbacks: [String?] = [],
        timeLeft: Duration = .seconds(60)
    ) -> [Duration] {
        var retries = RetryCount()
        var waits: [Duration] = []
        for index in 0..<20 {
            let pushback = RetryPolicy.Pushback(index < pushbacks.count ? pushbacks[index] : nil)
            let wait = policy.wait(
                after: code,
                pushback: pushback,
                retries: retries,
                timeLeft: timeLeft,
                chance: .random(in: 0...1)
            )
            guard let wait else { break }
            waits.append(wait)
            retries.add(pushback)
        }
        return waits
    }

    @Test func `Waits grow to the maximum, give or take a fifth`() {
        var policy = RetryPolicy()
        policy.attemptsMax = 8
        policy.backoffFirst = .milliseconds(100)
        policy.backoffMax = .milliseconds(500)
        let bases = [100, 200, 400, 500, 500, 500, 500]
        for _ in 0..<50 {
            let waits = waits(policy)
            #expect(waits.count == 7)
            for (wait, base) in zip(waits, bases) {
                #expect(wait >= .milliseconds(base) * 4 / 5 && wait <= .milliseconds(base) * 6 / 5)
            }
        }
        #expect(Set((0..<20).map { _ in waits(policy)[0] }).count > 10, "there is jitter")
    }

    @Test func `Attempts are bounded`() {
        var policy = RetryPolicy()
        for count in 1...5 {
            policy.attemptsMax = count
            #expect(waits(policy).count == count - 1)
        }
    }

    @Test func `Only the codes named are tried again`() {
        var policy = RetryPolicy()
        for code in Status.Code.allCases where code != .unavailable { #expect(waits(policy, code: code).isEmpty) }
        policy.codes = [.aborted]
        #expect(waits(policy, code: .unavailable).isEmpty)
        #expect(waits(policy, code: .aborted).count == 3)
    }

    @Test func `A retry that would begin after the deadline is not made`() {
        var policy = RetryPolicy()
        policy.backoffFirst = .milliseconds(100)
        #expect(waits(policy, timeLeft: .milliseconds(70)).isEmpty)
        #expect(waits(policy, timeLeft: .milliseconds(130)).count == 1)
    }

    @Test func `The server's word counts more than the policy`() {
        let policy = RetryPolicy()
        #expect(waits(policy, pushbacks: ["700"]).first == .milliseconds(700))
        #expect(waits(policy, pushbacks: ["0"]).first == .zero)
        for refusal in ["-1", "", "soon", "1.5", "99999999999"] {
            #expect(waits(policy, pushbacks: [refusal]).isEmpty, "\(refusal)")
        }
        // After it the growing waits begin anew.
        let after = waits(policy, pushbacks: [nil, "700", nil])
        #expect(after[2] <= policy.backoffFirst * 6 / 5)
        #expect(waits(policy, pushbacks: ["2147483647"], timeLeft: .seconds(1000)).first == RetryPolicy.pushbackMax)
    }

    @Test func `The budget allows retries only above half of it`() {
        var policy = RetryPolicy()
        policy.tokensMax = 10
        policy.tokenRatioThousandths = 500
        var tokens = RetryTokens(policy)
        for _ in 0..<4 {
            tokens.failed()
            #expect(tokens.allowsRetry)
        }
        tokens.failed()
        #expect(!tokens.allowsRetry, "five of ten are not more than half")
        tokens.succeeded()
        #expect(tokens.allowsRetry)
        for _ in 0..<100 { tokens.failed() }
        #expect(tokens.count == 0)
        for _ in 0..<100 { tokens.succeeded() }
        #expect(tokens.count == 10_000)
    }

    @Test func `The shared budget counts as the value does`() async {
        var policy = RetryPolicy()
        policy.tokensMax = 2000
        policy.tokenRatioThousandths = 250
        let budget = RetryBudget(policy)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { for _ in 0..<249 { _ = budget.failed() } } }
        }
        // 996 of 2000 are gone; the thousandth reaches the half.
        for _ in 0..<3 { #expect(budget.failed()) }
        #expect(!budget.failed())
        for _ in 0..<2 { budget.succeeded() }
        #expect(!budget.failed())
        for _ in 0..<4 { budget.succeeded() }
        #expect(!budget.failed(), "three quarters and a half given back, two taken")
    }
}
