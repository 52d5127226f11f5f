import API
import LocalPostgres
import Postgres
import RPCTransport
import TestDatabases
import Testing

@testable import IdentityService

struct CrosswiseRefreshTests {
    /// Somebody with two sessions presents their tokens in opposite order on two loops, each with strangers between them,
    /// again and again: a repeat within the grace is free, and still locks its row until all are committed.
    @Test(.waitsByLocksAlone) func `Refreshes in opposite order never deadlock`() async throws {
        try await TestService.run { service in
            let first = try await service.signIn(subject: "a").tokens.refreshToken
            let second = try await service.signIn(subject: "b").tokens.refreshToken
            var strangers: [String] = []
            for n in 0..<40 { strangers.append(try await service.signIn(subject: "s\(n)").tokens.refreshToken) }
            let tokens = [first, second] + strangers
            _ = try await gather(tokens.count) { n in try await service.refresh(tokens[n]) }

            let halves = [Array(strangers[0..<20]), Array(strangers[20..<40])]
            let crossing = zip(service.group.loops, [(first, second), (second, first)]).enumerated().map { n, part in
                let (loop, (before, after)) = part
                let order = [before] + halves[n] + [after]
                return Task(executorPreference: loop) {
                    for _ in 0..<150 {
                        try await withThrowingTaskGroup(of: Void.self) { tasks in
                            // Children of a task on the loop begin in one turn, in this order.
                            for token in order { tasks.addTask { _ = try await service.refresh(token) } }
                            try await tasks.waitForAll()
                        }
                    }
                }
            }
            for task in crossing { try await task.value }
            // A session tells its counts when it ends, if not sooner.
            await service.database.shutdown()
            let deadlocks = try SharedTestCluster.cluster().runSQL(
                "SELECT pg_stat_force_next_flush(); SELECT deadlocks FROM pg_stat_database WHERE datname = '\(service.database.configuration.database)';"
            )
            #expect(deadlocks.split(separator: "\n").last == "0")
        }
    }
}
