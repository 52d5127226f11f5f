import Dispatch
import FoundationEssentials
import Models
import Postgres
import RPC
import RPCTransport
import ServiceKit
import ServiceStore
import TestDatabases
import Testing

@testable import InvitesService
@testable import ProfileService

/// Random histories against the real stores. `PLACE_HISTORIES` is their number, `PLACE_HISTORY_SEED` the first seed.
struct PlaceHistoryTests {
    @Test func `In concurrent histories nobody is lost, doubled or in another's place`() async throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["PLACE_HISTORIES"].flatMap(Int.init) ?? 300
        let first = environment["PLACE_HISTORY_SEED"].flatMap(UInt64.init) ?? 1
        var total = PlaceTally()
        try await withThrowingTaskGroup(of: PlaceTally.self) { tasks in
            let workers = min(count, 4)
            for worker in 0..<workers {
                tasks.addTask {
                    // All of a worker's seeds are even, or odd.
                    let isTight = (first + UInt64(worker)).isMultiple(of: 2)
                    return try await PlaceServices.run(rules: isTight ? Self.tight : PlaceRules.usual) { services in
                        var tally = PlaceTally()
                        for index in stride(from: worker, to: count, by: workers) {
                            tally += try await Self.live(seed: first + UInt64(index), first: 8 * index, services)
                            if index > 0, index.isMultiple(of: 1_000) { print("\(index) of \(count) histories") }
                        }
                        return tally
                    }
                }
            }
            for try await tally in tasks { total += tally }
        }
        print(
            "\(total.histories) histories: \(total.operations) operations, \(total.refusals) refused; \(total.lost) lost, "
                + "\(total.doubled) doubled, \(total.wronglySeated) wrongly seated, \(total.other) other differences"
        )
        #expect(total.lost + total.doubled + total.wronglySeated + total.other == 0)
    }

    /// Limits so low that many additions are refused.
    private static let tight = PlaceRules(
        pendingMax: 4,
        pendingLifetimeMilliseconds: PlaceRules.usual.pendingLifetimeMilliseconds,
        adds: .daily("adds", countMax: 3),
        numbers: Quota(kind: "numbers", countMax: 4, windowMilliseconds: 30 * 86_400_000)
    )

    /// Runs a history. A failure is reported with its seed, and counted.
    private static func live(
        seed: UInt64,
        first phone: Int,
        _ services: PlaceHistory.Services
    ) async throws -> PlaceTally {
        var history = PlaceHistory(seed: seed, first: phone, services)
        do {
            try await history.run(rounds: 16)
        } catch let violation as PlaceViolation {
            history.tally.count(violation.differences)
            Issue.record("\(violation)\nalone: PLACE_HISTORIES=1 PLACE_HISTORY_SEED=\(seed)")
        } catch {
            history.tally.other += 1
            Issue.record("seed \(seed): \(error)\n\(history.steps.joined(separator: "\n"))")
        }
        history.tally.histories = 1
        return history.tally
    }
}

/// The stores of both services, each on a separate database.
enum PlaceServices {
    static func run<Value: Sendable>(
        rules: PlaceRules = .usual,
        _ body: (PlaceHistory.Services) async throws -> Value
    ) async throws -> Value {
        let group = try EventLoopGroup(loopCount: 1, name: "histories")
        let identifiers = Identifiers().source
        let invites = try await database("invites", InvitesMigrations.all, group)
        let profile = try await database("profile", ProfileMigrations.all, group)
        try await invites.execute("INSERT INTO wanted_events (type) VALUES ('group.joined')")
        let result: Result<Value, any Error>
        do {
            result = .success(
                try await body(
                    PlaceHistory.Services(
                        places: PlaceStores(invites, identifiers, rules),
                        numbers: NumberStores(database: profile, identifiers: identifiers, rules: NumberRules()),
                        identifiers: identifiers
                    )
                )
            )
        } catch { result = .failure(error) }
        await invites.shutdown()
        await profile.shutdown()
        await group.shutdown()
        return try result.get()
    }

    private static func database(
        _ schema: String,
        _ migrations: [Migration],
        _ group: EventLoopGroup
    ) async throws -> PostgresClient {
        let facts = try await TestDatabase.fresh(schema: schema, hasOwner: true)
        var configuration = facts.configuration
        configuration.connectionsPerLoop = 6
        try await Migrator(facts.ownerConfiguration).run(migrations, schema: schema)
        return PostgresClient(configuration, group: group)
    }
}
