import FoundationEssentials
import IdentityDomain
import Testing

@testable import IdentityService

/// Seeded histories against the real database. `SESSION_HISTORIES` says how many, `SESSION_HISTORY_SEED` which is the first.
struct SessionHistoryTests {
    @Test func `No honest phone is signed out, and no thief stays`() async throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["SESSION_HISTORIES"].flatMap(Int.init) ?? 300
        let first = environment["SESSION_HISTORY_SEED"].flatMap(UInt64.init) ?? 1
        try await TestService.run { service in
            let store = service.parts.methods.store
            var total = SessionHistory.Counts()
            try await withThrowingTaskGroup(of: SessionHistory.Counts.self) { tasks in
                var begun = 0
                func begin() {
                    let seed = first + UInt64(begun)
                    begun += 1
                    tasks.addTask { try await Self.live(seed: seed, store) }
                }
                while begun < min(count, 24) { begin() }
                var ended = 0
                for try await counts in tasks {
                    total += counts
                    ended += 1
                    if begun < count { begin() }
                    if ended.isMultiple(of: 5_000) { print("\(ended) of \(count) histories") }
                }
            }
            print(
                "\(count) histories: \(total.refreshes) refreshes, \(total.lostAnswers) without an answer, "
                    + "\(total.crashes) crashes, \(total.restores) restores, \(total.foundThieves) of \(total.thieves) "
                    + "thieves found, no honest phone signed out"
            )
            #expect(total.foundThieves == total.thieves)
        }
    }

    private static func live(seed: UInt64, _ store: IdentityStore) async throws -> SessionHistory.Counts {
        var history = try await SessionHistory(seed: seed, store: store)
        do {
            try await history.run()
        } catch let violation as SessionHistory.Violation {
            let steps = history.steps.joined(separator: "\n  ")
            Issue.record("seed \(seed), \(history.kind): \(violation)\n  \(steps)")
            throw violation
        }
        return history.counts
    }
}
