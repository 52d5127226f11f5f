import API
import InvitesDomain
import Logging
import Models
import Postgres
import ServiceModels
import Testing

@testable import InvitesService

/// Random histories from many connections, with watchers that come and go.
@Suite(.timeLimit(.minutes(5)))
struct GroupWatchHistoryTests {
    /// A way to read the log.
    enum Reading: CaseIterable {
        case bySnapshot, byClock

        func store(_ database: PostgresClient) -> GroupEventStore {
            switch self {
            case .bySnapshot: GroupEventStore(database: database, log: SnapshotGroupLog(database: database))
            case .byClock: GroupEventStore(database: database, log: ClockGroupLog(database: database))
            }
        }
    }

    /// Five people and eight numbers; each of the writers picks at random.
    @Test(
        arguments: [(1, 1_000), (2, 1_000), (3, 1_000), (4, 3), (5, 1)] as [(UInt64, Int)],
        Reading.allCases
    )
    func `No change is lost and none is sent twice, however small the pages`(
        _ parameters: (seed: UInt64, page: Int),
        reading: Reading
    ) async throws {
        let (seed, page) = parameters
        try await InvitesFixture.run { service in
            var limits = GroupEventHub.Limits()
            (limits.eventsPerLookMax, limits.pollInterval) = (page, .milliseconds(5))
            let hub = GroupEventHub(
                store: reading.store(service.database),
                limits: limits,
                logger: Logger(label: "test")
            )
            let people = (0..<5).map { _ in someone() }
            // She always owns her group: its changes concern her throughout.
            let owner = someone()
            let group = try await service.group(by: owner)
            try await service.database.execute("DELETE FROM group_events")
            try await TestWatch.run(hub) { watch in
                let begun = try await watch.begin(owner)
                async let returning = Self.comeAndGo(owner, seed: seed &+ 99, rounds: 40, watch)
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    for writer in 0..<4 as Range<UInt64> {
                        tasks.addTask {
                            try await Self.write(service, group, owner, people, seed: seed &* 17 &+ writer)
                        }
                    }
                    try await tasks.waitForAll()
                }
                let again = try await returning
                let written = try await Self.written(service, owner: owner, group)
                // The first change of the end is behind all of them. The others of the end may be in later pages.
                let end = try await service.group("End", by: owner)
                try await watch.wait(begun, for: .groupJoined, in: end)
                try await watch.wait(again.last, for: .groupJoined, in: end)
                // A poll sends a change once that it read several times.
                for (all, isAlwaysThere) in [(watch.told(begun), true), (again.told + watch.told(again.last), false)] {
                    let told = all.filter { $0.groupID != end }
                    // A late poll sees many members change, and sends them as one.
                    let many = Set(told.filter { $0.kind == .memberChanged && $0.memberID.isEmpty }.map(\.line))
                    let counts = Dictionary(told.map { ($0.line, 1) }, uniquingKeysWith: +).filter {
                        !many.contains($0.key)
                    }
                    let lost = Set(written.keys).subtracting(counts.keys).filter { line in
                        !many.contains { line.hasPrefix($0) }
                    }
                    #expect(lost.isEmpty, "seed \(seed)")
                    // A log that is read by its clock repeats the last minute to returning subscribers.
                    guard isAlwaysThere || reading == .bySnapshot else { continue }
                    for (line, count) in counts {
                        #expect(count <= written[line, default: 0], "seed \(seed): \(line) was sent \(count) times")
                    }
                }
                #expect(written.count > 15)
            }
        }
    }

    /// Watches, leaves and returns with the current position, again and again. Returns what was sent before the last time.
    private static func comeAndGo(
        _ user: UserID,
        seed: UInt64,
        rounds: Int,
        _ watch: TestWatch
    ) async throws -> (told: [AppV1.GroupChange], last: InvitesV1.WatchBegun) {
        var random = SeededGenerator(state: seed)
        var told: [AppV1.GroupChange] = []
        var begun = try await watch.begin(user)
        for _ in 0..<rounds {
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...20, using: &random)))
            let (changes, position) = watch.leave(begun)
            told += changes
            begun = try await watch.begin(user, from: .after(GroupPosition(given: position)))
            #expect(!begun.isReset)
        }
        return (told, begun)
    }

    private static func write(
        _ service: InvitesFixture,
        _ group: String,
        _ owner: UserID,
        _ people: [UserID],
        seed: UInt64
    ) async throws {
        var random = SeededGenerator(state: seed)
        let id = try #require(GroupID(group)).uuid
        for step in 0..<75 {
            let number = Int.random(in: 1...8, using: &random)
            guard let person = people.randomElement(using: &random) else { continue }
            switch Int.random(in: 0..<7, using: &random) {
            case 0, 1: try await service.add(phone(number), to: group, by: owner)
            case 2, 3: try await service.apply(claimed(number, by: person))
            case 4: try await service.apply(released(number, by: person))
            case 5:
                try await service.database.execute(
                    "DELETE FROM members WHERE group_id = \(id) AND user_id IS DISTINCT FROM \(owner.uuid) AND phone = \(phone(number).asStored)"
                )
            default:
                try await service.database.execute(
                    "UPDATE groups SET name = \("\(seed) \(step)") WHERE group_id = \(id)"
                )
            }
        }
    }

    /// The events that concern the owner, and how often each was written.
    private static func written(_ service: InvitesFixture, owner: UserID, _ group: String) async throws -> [String: Int]
    {
        let rows = try await service.database.query(
            """
            SELECT kind, group_id, member_id FROM group_events
            WHERE user_id = \(owner.uuid) AND group_id <> \(try #require(GroupID(group)).uuid)
                OR user_id IS NULL AND group_id IN (SELECT group_id FROM members WHERE user_id = \(owner.uuid))
            """
        )
        var written: [String: Int] = [:]
        for row in rows {
            let (name, groupID, memberID) = try row.decode(String.self, PostgresUUID?.self, PostgresUUID?.self)
            let change = GroupChange(
                try #require(GroupChange.Kind(rawValue: name)),
                groupID: groupID.map { GroupID($0) },
                memberID: memberID.map { MemberID($0) }
            )
            written[AppV1.GroupChange(change).line, default: 0] += 1
        }
        return written
    }
}

extension String {
    /// A Philippine number as people write it, and as it is stored.
    fileprivate var asStored: String { "63" + dropFirst() }
}

extension TestWatch {
    /// Ends a watch; returns what was sent and the position, read together.
    func leave(_ begun: InvitesV1.WatchBegun) -> (told: [AppV1.GroupChange], position: [UInt8]) {
        let moment = toldSoFar(begun)
        hub.end(begun.watchID, on: stream)
        return moment
    }
}
