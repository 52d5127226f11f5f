import API
import Models
import Postgres
import Synchronization
import Testing

@testable import IdentityService

/// The stream skips nothing, in whatever order transactions are committed.
@Suite(.timeLimit(.minutes(5)))
struct RevocationOrderTests {
    /// Tasks wait at it until it is opened.
    private final class Gate: Sendable {
        private let stream: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation
        init() { (stream, continuation) = AsyncStream.makeStream() }
        func open() { continuation.finish() }
        func pass() async { for await _ in stream {} }
    }

    @Test func `An end that is committed late is in the stream, for watchers that stay and that return`() async throws {
        try await TestService.run { service in
            var limits = RevocationHub.Limits()
            limits.transactionsInDoubt = 0
            try await Replica.run(of: service, limits: limits) { replica in
                let sessions = try await service.makeSessions(6)
                let gate = Gate()
                let isHeld = Gate()
                // Written first, committed last.
                let early = Task {
                    try await service.database.withTransaction { transaction in
                        try await transaction.execute(TestService.end([sessions[0]]))
                        isHeld.open()
                        await gate.pass()
                    }
                }
                await isHeld.pass()
                let told = Mutex<(stayed: [String], positions: [[UInt8]])>(([], []))
                let staying = Task {
                    try await replica.watch { message in
                        told.withLock { told in
                            told.stayed += message.sessionIds
                            told.positions.append(Array(message.position))
                        }
                        return !told.withLock { Set($0.stayed) }.isSuperset(of: sessions)
                    }
                }
                for session in sessions.dropFirst() {
                    try await service.database.execute(TestService.end([session]))
                }
                while !told.withLock({ Set($0.stayed) }).isSuperset(of: sessions.dropFirst()), !Task.isCancelled {
                    try await Task.sleep(for: .milliseconds(2))
                }
                #expect(!told.withLock { $0.stayed }.contains(sessions[0]))
                gate.open()
                try await early.value
                try await staying.value
                // A watcher that returns with any of the positions gets what came after it.
                for position in told.withLock({ $0.positions }).dropLast() {
                    #expect(try await replica.earlier(from: position).sessionIDs.contains(sessions[0]))
                }
                #expect(told.withLock { $0.stayed }.count { $0 == sessions[0] } == 1)
            }
        }
    }

    /// A watcher that leaves and returns, and what it has received so far.
    private final class Restless: Sendable {
        let state = Mutex<(told: Set<String>, position: [UInt8], resets: Int)>(([], [], 0))

        func watchForAWhile(_ replica: Replica, messageMax: Int) async throws {
            let left = Mutex(messageMax)
            try await replica.watch(from: state.withLock { $0.position }) { message in
                self.state.withLock { state in
                    state.told.formUnion(message.sessionIds)
                    if message.reset { state.resets += 1 }
                    if !message.position.isEmpty { state.position = Array(message.position) }
                }
                return left.withLock { left in
                    left -= 1
                    return left > 0
                }
            }
        }
    }

    private final class Writing: Sendable {
        let committed = Mutex<Set<String>>([])
        let isOver = Atomic(false)
    }

    @Test func `With sixteen random writers and watchers that come and go, nothing is missed`() async throws {
        try await TestService.run { service in
            var limits = RevocationHub.Limits()
            (limits.pollInterval, limits.heartbeat, limits.sessionsPerPage) = (.milliseconds(5), .milliseconds(10), 7)
            limits.transactionsInDoubt = 0
            let sessions = try await service.makeSessions(16 * 60)
            var configuration = service.database.configuration
            configuration.connectionsPerLoop = 16
            let shared = Writing()
            let restless = (0..<6).map { _ in Restless() }
            try await withPostgresClient(configuration, group: service.group) { writers in
                try await Replica.run(of: service, limits: limits) { replica in
                    // A new watcher that leaves before it has read everything gets no position, and starts again.
                    for one in restless { try await one.watchForAWhile(replica, messageMax: 1) }
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for one in restless {
                            group.addTask {
                                while !shared.isOver.load(ordering: .relaxed) {
                                    try await one.watchForAWhile(replica, messageMax: Int.random(in: 1...12))
                                }
                            }
                        }
                        try await withThrowingTaskGroup(of: Void.self) { writing in
                            for writer in 0..<16 {
                                let own = Array(sessions[writer * 60..<(writer + 1) * 60])
                                writing.addTask { try await Self.write(own, writers, shared) }
                            }
                            try await writing.waitForAll()
                        }
                        shared.isOver.store(true, ordering: .relaxed)
                        try await group.waitForAll()
                    }
                    let all = shared.committed.withLock { $0 }
                    #expect(all.count > 100 && all.count < sessions.count)
                    for one in restless {
                        // Once more from its position.
                        let rest = try await replica.earlier(from: one.state.withLock { $0.position })
                        let state = one.state.withLock { $0 }
                        #expect(state.told.union(rest.sessionIDs) == all)
                        #expect(state.resets == 1)
                    }
                }
            }
        }
    }

    /// Ends some sessions at a time, each in a transaction that lasts for a random time and may be rolled back.
    private static func write(
        _ sessions: [String],
        _ database: PostgresClient,
        _ shared: Writing
    ) async throws {
        struct Undone: Error {}
        var rest = sessions[...]
        while !rest.isEmpty {
            let some = Array(rest.prefix(Int.random(in: 1...3)))
            rest = rest.dropFirst(some.count)
            let isUndone = Int.random(in: 0..<5) == 0
            do {
                try await database.withTransaction { transaction in
                    for session in some {
                        try await transaction.execute(TestService.end([session]))
                        try await Task.sleep(for: .microseconds(Int.random(in: 0...8_000)))
                    }
                    if isUndone { throw Undone() }
                }
                shared.committed.withLock { $0.formUnion(some) }
            } catch is Undone {}
        }
    }
}
