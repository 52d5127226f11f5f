import IdentityDomain
import OutgoingHTTP
import Postgres
import RPC
import TestWaits
import Testing

@testable import IdentityService

/// Which caller exchanges a code, which ones wait for it, and what happens if the exchanging one is gone.
struct ConcurrentExchangeTests {
    @Test(.timeLimit(.minutes(5)))
    func `Of many callers with one code one exchanges it, also on two replicas`() async throws {
        try await ExchangeBench.run(replicas: 2) { bench in
            let gate = TestGate()
            let answer = try bench.answer()
            bench.http.answer { _ throws(OutgoingHTTPError) in
                await gate.wait()
                return OutgoingResponse(status: 200, body: Array(answer.utf8))
            }
            let exchanged = try await withThrowingTaskGroup(of: ExchangedCode.self) { tasks in
                for index in 0..<32 {
                    tasks.addTask { try await bench.exchange("c0de", replica: index % 2) }
                }
                try await eventually("the first asks") { !bench.http.requests.isEmpty }
                try await Task.sleep(for: .milliseconds(100))
                gate.open()
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(exchanged.count == 32)
            #expect(Set(exchanged.map(\.fingerprint)).count == 1)
            #expect(bench.http.requests.count == 1)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `Many callers with a bad code make one exchange, and all get the error`() async throws {
        try await ExchangeBench.run(replicas: 2) { bench in
            let gate = TestGate()
            bench.http.answer { _ throws(OutgoingHTTPError) in
                await gate.wait()
                return OutgoingResponse(status: 400, body: Array(#"{"error":"invalid_grant"}"#.utf8))
            }
            let faults = try await withThrowingTaskGroup(of: IdentityError?.self) { tasks in
                for index in 0..<32 {
                    tasks.addTask { await Self.fault { try await bench.exchange("c0de", replica: index % 2) } }
                }
                try await eventually("the first asks") { !bench.http.requests.isEmpty }
                gate.open()
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(faults == Array(repeating: .signIn(.codeSpent), count: 32))
            #expect(bench.http.requests.count == 1)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `An exchange goes on when its caller leaves, and the next try finds it`() async throws {
        try await ExchangeBench.run { bench in
            let gate = TestGate()
            let answer = try bench.answer()
            bench.http.answer { _ throws(OutgoingHTTPError) in
                await gate.wait()
                return OutgoingResponse(status: 200, body: Array(answer.utf8))
            }
            let caller = Task { try await bench.exchange("c0de") }
            try await eventually("it asks") { !bench.http.requests.isEmpty }
            caller.cancel()
            await #expect(throws: CancellationError.self) { try await caller.value }
            gate.open()
            #expect(try await bench.exchange("c0de").claims.subject == "001.person")
            #expect(bench.http.requests.count == 1)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A caller gets an error in time while the provider is slow, and the code isn't lost`() async throws {
        try await ExchangeBench.run { bench in
            let gate = TestGate()
            let answer = try bench.answer()
            bench.http.answer { _ throws(OutgoingHTTPError) in
                await gate.wait()
                return OutgoingResponse(status: 200, body: Array(answer.utf8))
            }
            // A call whose answer races with its deadline is not tested here: the gate opens after the caller has the error.
            await #expect(throws: IdentityError.providerUnavailable) {
                try await bench.exchange("c0de", deadline: .after(.milliseconds(400)))
            }
            gate.open()
            _ = try await bench.exchange("c0de", deadline: .after(.seconds(30)))
            #expect(bench.http.requests.count == 1)
            await #expect(throws: IdentityError.providerUnavailable) {
                try await bench.exchange("other", deadline: .after(.milliseconds(50)))
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `The claim of a replica that crashed ends with its lease`() async throws {
        try await ExchangeBench.run { bench in
            let grant = try #require(ExchangeBench.grant("c0de"))
            let begun = ContinuousClock.now
            // The state in which it left the claim.
            let claim = try await bench.store.claimCode(
                grant.hash,
                claimID: PostgresUUID(high: 1, low: 1),
                lease: .milliseconds(600),
                nowMilliseconds: bench.clock.nowMilliseconds,
                deadline: nil
            )
            #expect(claim == .claimed)
            bench.http.answer(200, try bench.answer())
            _ = try await bench.exchange("c0de")
            #expect(ContinuousClock.now - begun > .milliseconds(600), "until then the replica may still be working")
            #expect(bench.http.requests.count == 1)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A service that stops ends all waiting calls, and accepts no more`() async throws {
        try await ExchangeBench.run { bench in
            let gate = TestGate()
            let apple = try #require(bench.methods.providers[.apple])
            let endpoint = try #require(TokenEndpoint(apple, http: bench.http, clock: bench.clock.wallClock))
            let queue = CodeExchangeQueue(
                endpoint: endpoint,
                store: bench.store,
                log: QuestionLog(
                    provider: .apple,
                    question: .code,
                    metrics: ExchangeMetrics(providers: [.apple]),
                    clock: bench.clock.wallClock,
                    logger: bench.log.logger
                ),
                clock: bench.clock.wallClock,
                randomBytes: { [UInt8](repeating: 7, count: $0) }
            )
            bench.http.answer { _ throws(OutgoingHTTPError) in
                await gate.wait()
                throw OutgoingHTTPError(.cancelled, mayHaveBeenSent: true)
            }
            let grant = try #require(
                ExchangeBench.grant("c0de")
            )
            let running = Task { await queue.run() }
            let callers = (0..<3).map { _ in
                Task { await Self.fault { try await queue.tokens(for: grant, address: nil, deadline: nil) } }
            }
            try await eventually("it asks") { !bench.http.requests.isEmpty }
            running.cancel()
            for caller in callers { #expect(await caller.value == .providerUnavailable) }
            await running.value
            let late = await Self.fault { try await queue.tokens(for: grant, address: nil, deadline: nil) }
            #expect(late == .providerUnavailable)
        }
    }

    @Test(.timeLimit(.minutes(5))) func `Callers are rejected once too many wait for a code`() async throws {
        try await ExchangeBench.run { bench in
            let gate = TestGate()
            let answer = try bench.answer()
            bench.http.answer { _ throws(OutgoingHTTPError) in
                await gate.wait()
                return OutgoingResponse(status: 200, body: Array(answer.utf8))
            }
            let faults = try await withThrowingTaskGroup(of: IdentityError?.self) { tasks in
                for _ in 0..<CodeExchangeQueue.waitersByCodeMax + 3 {
                    tasks.addTask { await Self.fault { try await bench.exchange("c0de") } }
                }
                for _ in 0..<3 {
                    let first = try await tasks.next()
                    #expect(first == .some(.providerUnavailable))
                }
                gate.open()
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(faults == Array(repeating: nil, count: CodeExchangeQueue.waitersByCodeMax))
            #expect(bench.http.requests.count == 1)
        }
    }

    @Test func `A caller that lost its claim can neither store a result nor release the claim`() async throws {
        try await ExchangeBench.run { bench in
            let (store, now) = (bench.store, bench.clock.nowMilliseconds)
            let hash = [UInt8](repeating: 1, count: 32)
            let (first, second) = (PostgresUUID(high: 1, low: 1), PostgresUUID(high: 2, low: 2))
            func claim(_ id: PostgresUUID, lease: Duration) async throws -> CodeClaim {
                try await store.claimCode(hash, claimID: id, lease: lease, nowMilliseconds: now, deadline: nil)
            }
            func keep(_ id: PostgresUUID, _ content: [UInt8]) async throws {
                try await store.keepExchange(
                    hash,
                    claimID: id,
                    content: content,
                    nowMilliseconds: now,
                    keptMilliseconds: 1,
                    deadline: nil
                )
            }
            #expect(try await claim(first, lease: .zero) == .claimed)
            #expect(try await claim(second, lease: .seconds(600)) == .claimed, "the lease was over")
            try await keep(first, [1])
            try await store.releaseCode(hash, claimID: first, deadline: nil)
            #expect(try await claim(first, lease: .seconds(600)) == .held)
            try await keep(second, [2])
            let known = CodeClaim.exchanged(content: [2], atMilliseconds: now)
            #expect(try await claim(first, lease: .seconds(600)) == known)
            try await store.releaseCode(hash, claimID: second, deadline: nil)
            #expect(try await claim(first, lease: .seconds(600)) == known, "what is known is not released")
        }
    }

    private static func fault<Value>(_ body: () async throws -> Value) async -> IdentityError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? IdentityError
        }
    }
}
