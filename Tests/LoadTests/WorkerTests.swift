import RPCTransport
import Synchronization
import Testing

@testable import Load

struct WorkerTests {
    @Test func `An expired access token is refreshed and the call made again; that is no error`() async throws {
        let server = FakeServer(accessTokensExpireAfterChecks: 3)
        let result = try await run(.checkSession, server, until: { $0.checkCount >= 10 })
        let statistics = result.statistics[Operation.checkSession.rawValue]
        #expect(statistics.failures.total == 0)
        #expect(result.side.expiredTokenCount >= 3)
        #expect(result.side.expiredTokenCount == server.seen.refreshCount)
        #expect(result.statistics[Operation.refresh.rawValue].callCount == 0)
    }

    @Test func `After a lost answer the same refresh token is presented again, and the chain goes on`() async throws {
        let server = FakeServer(losesEveryThirdRefresh: true)
        let result = try await run(.refresh, server, until: { $0.refreshCount >= 12 })
        let failures = result.statistics[Operation.refresh.rawValue].failures
        #expect(failures.total >= 3)
        #expect(failures.sorted.map(\.failure.code) == ["UNAVAILABLE"])
        // The last answer that was lost may be followed by none.
        #expect((failures.total - 1...failures.total).contains(result.side.resumedRefreshCount))
        #expect(result.side.repeatedSignInCount == 0)
    }

    @Test func `A session that is over is counted as an error once and begins anew`() async throws {
        let server = FakeServer(endsSessionAtRefresh: 4)
        let result = try await run(.refresh, server, until: { $0.refreshCount >= 10 })
        #expect(result.statistics[Operation.refresh.rawValue].failures.sorted.map(\.count) == [1])
        #expect(result.side.repeatedSignInCount == 1)
    }

    @Test func `Profile is called with a proof of the person, which is asked for once while it is fresh`() async throws
    {
        let server = FakeServer()
        let result = try await run(.profile, server, until: { $0.profileCount >= 10 })
        #expect(result.statistics.map(\.failures.total).reduce(0, +) == 0)
        #expect(server.seen.checkCount == 1 && result.side.renewedProofCount == 1)
        #expect(result.statistics[Operation.checkSession.rawValue].callCount == 0)
    }

    @Test func `A refresh and the check behind it are one call, with the new access token`() async throws {
        let server = FakeServer(accessTokensExpireAfterChecks: 1)
        let result = try await run(.refreshAndCheck, server, until: { $0.checkCount >= 10 })
        let statistics = result.statistics[Operation.refreshAndCheck.rawValue]
        #expect(statistics.failures.total == 0)
        #expect(statistics.callCount == server.seen.refreshCount)
        #expect(server.seen.checkCount == server.seen.refreshCount)
        // Each token was good for one check, so that none was checked twice.
        #expect(result.side.expiredTokenCount == 0)
    }

    @Test func `Each number that is taken is another one, in its lane's steps`() async throws {
        let server = FakeServer()
        let result = try await run(.claimPhone, server, until: { $0.phones.count >= 3 })
        #expect(result.statistics[Operation.claimPhone.rawValue].failures.total == 0)
        #expect(server.seen.phones.prefix(3) == ["+639176180341", "+639178541017", "+639170901693"])
    }

    @Test func `Sign-ins use the tokens that were prepared, then ask for more`() async throws {
        let server = FakeServer()
        let result = try await run(.signIn, server, proofCount: 4, until: { $0.signInCount >= 9 })
        #expect(server.seen.signInCount - 4 == result.side.lateTokenCount)
        #expect(server.seen.reusedProofCount == 0)
    }

    @Test func `An open loop makes exactly the calls of its time, none before its start`() async throws {
        let server = FakeServer()
        let result = try await run(.checkSession, server, rate: 400, milliseconds: 500, until: nil)
        #expect(result.statistics[Operation.checkSession.rawValue].callCount == 200)
        #expect(result.arrivals?.droppedCount == 0)
        #expect(result.arrivals?.waitingAtEndCount == 0)
    }

    @Test func `Accounts take turns, and none is used twice at once`() {
        let tokens = SessionTokens(accessToken: "", refreshToken: "", profileProof: nil)
        var pool = AccountPool((0..<3).map { Account(email: "\($0)", tokens: tokens) })
        let (first, second) = (pool.take(), pool.take())
        #expect([first, second] == [0, 1])
        pool.giveBack(second)
        pool.giveBack(first)
        #expect([pool.take(), pool.take(), pool.take()] == [2, 1, 0])
        pool[2].isSignedOut = true
        #expect(pool.accounts.map(\.isSignedOut) == [false, false, true])
    }

    /// Runs one worker on a loop of its own; ends when the condition holds, or when its time is over if there is none.
    private func run(
        _ scenario: Scenario,
        _ server: FakeServer,
        rate: Int? = nil,
        proofCount: Int = 0,
        milliseconds: Int = 20_000,
        until isEnough: (@Sendable (FakeServer.Seen) -> Bool)?
    ) async throws -> Lane.Result {
        let group = try EventLoopGroup(loopCount: 1, name: "test")
        var plan = LoadPlan(scenario: scenario, target: .edge(url: "http://127.0.0.1:1"), simulatorURL: "")
        plan.ratePerSecond = rate
        plan.warmUp = .zero
        plan.duration = .milliseconds(milliseconds)
        let times = RunTimes(plan, start: MonotonicTime.nanoseconds)
        let arrivals = rate.map { rate in
            ArrivalQueue(
                schedule: ArrivalSchedule(ratePerSecond: rate, startNanoseconds: times.start),
                countMax: 100,
                measureFromNanoseconds: times.measureFrom,
                endNanoseconds: times.end
            )
        }
        let account = Account(email: "someone@example.com", tokens: server.newSession())
        var proofs: [ProviderProof] = []
        for _ in 0..<proofCount { proofs.append(try await server.proof(email: account.email)) }
        let lane = Lane(
            loop: group.loops[0],
            times: times,
            arrivals: arrivals,
            scenario: scenario,
            accounts: [account],
            proofs: proofs,
            phones: PhoneSequence(first: 639_170_000_003, lane: 1, of: 2)
        )
        try await lane.loop.run { try lane.start() }
        if let isEnough {
            server.onEnough(isEnough) { lane.loop.execute { lane.stop(atNanoseconds: MonotonicTime.nanoseconds) } }
        }
        let worker = Worker(lane: lane, target: server, source: server, pausesAfterErrors: rate == nil)
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask(executorPreference: lane.loop) { await worker.run() }
        }
        let result = try await lane.loop.run { lane.finish() }
        await group.shutdown()
        return result
    }
}

/// One session's server: strict about its chain of refresh tokens, as identity is.
private final class FakeServer: Target, TokenSource {
    struct Seen: Sendable {
        var checkCount = 0
        var refreshCount = 0
        var signInCount = 0
        var reusedProofCount = 0
        var generation = 0
        var checksOfToken = 0
        var profileCount = 0
        var proofCount = 0
        var proofs: Set<String> = []
        var phones: [String] = []
        var isEnough: (@Sendable (Seen) -> Bool)?
        var enough: (@Sendable () -> Void)?
    }
    private let state = Mutex(Seen())
    private let accessTokensExpireAfterChecks: Int
    private let losesEveryThirdRefresh: Bool
    private let endsSessionAtRefresh: Int

    init(
        accessTokensExpireAfterChecks: Int = .max,
        losesEveryThirdRefresh: Bool = false,
        endsSessionAtRefresh: Int = .max
    ) {
        self.accessTokensExpireAfterChecks = accessTokensExpireAfterChecks
        self.losesEveryThirdRefresh = losesEveryThirdRefresh
        self.endsSessionAtRefresh = endsSessionAtRefresh
    }

    var seen: Seen { state.withLock { $0 } }

    func onEnough(_ isEnough: @escaping @Sendable (Seen) -> Bool, _ body: @escaping @Sendable () -> Void) {
        state.withLock { ($0.isEnough, $0.enough) = (isEnough, body) }
    }

    func newSession() -> SessionTokens { state.withLock { Self.tokens(&$0) } }

    private static func tokens(_ seen: inout Seen) -> SessionTokens {
        SessionTokens(accessToken: "access", refreshToken: "\(seen.generation)", profileProof: nil)
    }

    private func counting<Made: Sendable>(
        _ body: (inout Seen) throws(CallFailure) -> Made
    ) throws(CallFailure) -> Made {
        let (result, isEnough) = state.withLock { seen in
            let result = Result { () throws(CallFailure) in try body(&seen) }
            return (result, seen.isEnough?(seen) == true ? seen.enough : nil)
        }
        isEnough?()
        return try result.get()
    }

    var needsProofs: Bool { true }

    func checkSession(_ account: Account) async throws(CallFailure) -> ProfileProof? {
        await Task.yield()
        return try counting { seen throws(CallFailure) in
            seen.checkCount += 1
            seen.checksOfToken += 1
            guard seen.checksOfToken <= accessTokensExpireAfterChecks else {
                throw CallFailure(code: "UNAUTHENTICATED", reason: "ACCESS_TOKEN_EXPIRED")
            }
            return ProfileProof("proof")
        }
    }

    func refresh(_ refreshToken: String) async throws(CallFailure) -> SessionTokens {
        await Task.yield()
        return try counting { seen throws(CallFailure) in
            seen.refreshCount += 1
            guard seen.refreshCount != endsSessionAtRefresh else {
                throw CallFailure(code: "UNAUTHENTICATED", reason: "SESSION_REVOKED")
            }
            let presented = Int(refreshToken) ?? -1
            if presented == seen.generation {
                seen.generation += 1
            } else if presented != seen.generation - 1 {
                throw CallFailure(code: "UNAUTHENTICATED", reason: "REFRESH_TOKEN_REUSED")
            }
            seen.checksOfToken = 0
            if losesEveryThirdRefresh, seen.refreshCount.isMultiple(of: 3) {
                throw CallFailure(code: "UNAVAILABLE", reason: "the connection was lost")
            }
            return Self.tokens(&seen)
        }
    }

    func signIn(_ proof: ProviderProof) async throws(CallFailure) -> SessionTokens {
        await Task.yield()
        return try counting { seen throws(CallFailure) in
            seen.signInCount += 1
            if !seen.proofs.insert(proof.idToken).inserted { seen.reusedProofCount += 1 }
            return Self.tokens(&seen)
        }
    }

    func getProfile(_ account: Account) async throws(CallFailure) { try await callProfile(account) }

    func updateProfile(_ account: Account, name: String, phone: String?) async throws(CallFailure) {
        try await callProfile(account, phone)
    }

    private func callProfile(_ account: Account, _ phone: String? = nil) async throws(CallFailure) {
        await Task.yield()
        try counting { seen throws(CallFailure) in
            guard account.profileProof?.text == "proof" else {
                throw CallFailure(code: "UNAUTHENTICATED", reason: "CALLER_PROOF_REQUIRED")
            }
            seen.profileCount += 1
            if let phone { seen.phones.append(phone) }
        }
    }

    func proof(email: String) async throws(CallFailure) -> ProviderProof {
        state.withLock { seen in
            seen.proofCount += 1
            return ProviderProof(idToken: "\(seen.proofCount)", nonce: "", authorizationCode: nil)
        }
    }
}
