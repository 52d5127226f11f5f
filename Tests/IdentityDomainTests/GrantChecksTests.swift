import IdentityDomain
import Testing

struct GrantChecksTests {
    private static let now: Int64 = 1_800_000_000_000

    private static func answers(good: Int = 0, refused: Int = 0, notConfigured: Int = 0, unavailable: Int = 0)
        -> [GrantChecks.Answer]
    {
        [GrantChecks.Answer](repeating: .good, count: good) + .init(repeating: .refused, count: refused)
            + .init(repeating: .notConfigured, count: notConfigured)
            + .init(repeating: .unavailable, count: unavailable)
    }

    @Test func `A user who withdrew their consent is signed out, even among few users`() {
        var checks = GrantChecks(nowMilliseconds: Self.now)
        #expect(checks.judge(Self.answers(refused: 1), refusedPercentMax: 5, nowMilliseconds: Self.now) == true)
        #expect(
            checks.judge(Self.answers(good: 6, refused: 3), refusedPercentMax: 5, nowMilliseconds: Self.now) == true
        )
        #expect(checks.batch(of: 100, nowMilliseconds: Self.now) == 100)
        #expect((checks.checked, checks.refused) == (10, 4))
    }

    @Test func `A wrong key signs nobody out, stops checks, and costs one call an hour`() {
        var checks = GrantChecks(nowMilliseconds: Self.now)
        let batch = Self.answers(good: 50, refused: 2, notConfigured: 1)
        #expect(checks.judge(batch, refusedPercentMax: 5, nowMilliseconds: Self.now) == false)
        #expect(checks.stopReason == .notConfigured && checks.refused == 0)
        #expect(checks.batch(of: 100, nowMilliseconds: Self.now + 3_599_999) == 0)
        #expect(checks.batch(of: 100, nowMilliseconds: Self.now + 3_600_000) == 1)
        let probe = Self.answers(notConfigured: 1)
        #expect(checks.judge(probe, refusedPercentMax: 5, nowMilliseconds: Self.now + 3_600_000) == false)
        #expect(checks.batch(of: 100, nowMilliseconds: Self.now + 7_199_999) == 0)
        #expect(
            checks.judge(Self.answers(good: 1), refusedPercentMax: 5, nowMilliseconds: Self.now + 7_200_000) == true
        )
        #expect(checks.stopReason == nil && checks.batch(of: 100, nowMilliseconds: Self.now + 7_200_000) == 100)
    }

    @Test func `A provider that is down stops checks, and a single failed call doesn't`() {
        var checks = GrantChecks(nowMilliseconds: Self.now)
        let few = Self.answers(good: 95, unavailable: 5)
        #expect(checks.judge(few, refusedPercentMax: 5, nowMilliseconds: Self.now) == true)
        #expect(checks.checked == 95, "tokens without an answer aren't counted")
        let many = Self.answers(good: 94, unavailable: 6)
        #expect(checks.judge(many, refusedPercentMax: 5, nowMilliseconds: Self.now) == false)
        #expect(checks.stopReason == .unavailable)
        #expect(checks.batch(of: 100, nowMilliseconds: Self.now + 899_999) == 0)
        #expect(checks.batch(of: 100, nowMilliseconds: Self.now + 900_000) == 1)
        #expect(
            checks.judge(Self.answers(unavailable: 1), refusedPercentMax: 5, nowMilliseconds: Self.now + 900_000)
                == false
        )
    }

    @Test func `Implausibly many refusals sign nobody out, and checks stop for a day`() {
        var checks = GrantChecks(nowMilliseconds: Self.now)
        #expect(
            checks.judge(Self.answers(good: 95, refused: 5), refusedPercentMax: 5, nowMilliseconds: Self.now) == true
        )
        #expect(
            checks.judge(Self.answers(good: 94, refused: 6), refusedPercentMax: 5, nowMilliseconds: Self.now) == false
        )
        #expect(checks.stopReason == .refusals && checks.refused == 5, "earlier verdicts stay")
        #expect(checks.batch(of: 100, nowMilliseconds: Self.now + 86_399_999) == 0)
        // Whole batches after it: a single probe says nothing about the rate of refusals.
        #expect(checks.batch(of: 100, nowMilliseconds: Self.now + 86_400_000) == 100)
        #expect(
            checks.judge(Self.answers(good: 1), refusedPercentMax: 5, nowMilliseconds: Self.now + 86_400_000) == true
        )
        #expect((checks.checked, checks.refused) == (1, 0), "a new window")
    }

    @Test func `A clock that is set back ends the window`() {
        var checks = GrantChecks(nowMilliseconds: Self.now)
        _ = checks.judge(Self.answers(refused: 4), refusedPercentMax: 5, nowMilliseconds: Self.now)
        #expect(checks.judge(Self.answers(refused: 4), refusedPercentMax: 5, nowMilliseconds: Self.now - 1) == true)
    }

    /// For any answers in any batches: in a window no more users are signed out than allowed; none in a batch in which the
    /// provider refused our credentials; and while checks are stopped there is no batch.
    @Test(arguments: 1...300)
    func `Never more people are signed out than the rules allow`(seed: Int) {
        var random = SplitMix(state: UInt64(seed))
        let percent = [1, 5, 20, 100][seed % 4]
        var now = Self.now
        var checks = GrantChecks(nowMilliseconds: now)
        var window = (beganAt: now, checked: 0, signedOut: 0)
        for _ in 0..<60 {
            now += Int64(random.next() % 10_000_000)
            let count = checks.batch(of: 1 + Int(random.next() % 200), nowMilliseconds: now)
            if let reason = checks.stopReason {
                #expect((count == 0) == (now < checks.stoppedUntil))
                if count > 0, reason != .refusals { #expect(count == 1) }
            }
            if count == 0 { continue }
            // Our errors and the provider's are rare, and then affect a whole batch; refusals come at this batch's rate.
            let (fault, rate) = (random.next() % 12, random.next() % 24)
            let answers = (0..<count).map { _ -> GrantChecks.Answer in
                if fault == 0, random.next() % 2 == 0 { return .notConfigured }
                if fault == 1, random.next() % 2 == 0 { return .unavailable }
                return random.next() % 100 < rate ? .refused : .good
            }
            if now >= window.beganAt + GrantChecks.windowMilliseconds { window = (now, 0, 0) }
            let mayEnd = checks.judge(answers, refusedPercentMax: percent, nowMilliseconds: now)
            if answers.contains(.notConfigured) { #expect(!mayEnd && checks.stopReason == .notConfigured) }
            #expect(mayEnd == (checks.stopReason == nil))
            guard mayEnd else { continue }
            window.checked += answers.count { $0 == .good || $0 == .refused }
            window.signedOut += answers.count { $0 == .refused }
            #expect(window.signedOut <= max(4, window.checked * percent / 100), "seed \(seed)")
            #expect(checks.checked == window.checked && checks.refused == window.signedOut)
        }
    }
}

/// Numbers that repeat from a seed (SplitMix64).
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
