import API
import InvitesDomain
import Logging
import Models
import Postgres
import ServiceModels
import ServiceStore
import Testing

@testable import InvitesService

/// The log of group changes, read by its clock, on PostgreSQL.
struct ClockGroupLogTests {
    private static func hub(_ service: InvitesFixture) -> GroupEventHub {
        var limits = GroupEventHub.Limits()
        limits.pollInterval = .milliseconds(5)
        let store = GroupEventStore(database: service.database, log: ClockGroupLog(database: service.database))
        return GroupEventHub(store: store, limits: limits, logger: Logger(label: "test"))
    }

    @Test func `A change that is committed late is sent once, and to returning subscribers again`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            let id = PostgresUUID(high: 9, low: 9)
            try await TestWatch.run(Self.hub(service)) { watch in
                let stays = try await watch.begin(maria)
                let held = try await service.database.withTransaction { transaction in
                    try await transaction.execute(
                        """
                        INSERT INTO group_events (kind, group_id, member_id)
                        VALUES ('member.changed', \(try #require(GroupID(group)).uuid), \(id))
                        """
                    )
                    let early = try await service.group("Early", by: maria)
                    try await watch.wait(stays, for: .groupJoined, in: early)
                    return watch.position
                }
                let position = try #require(GroupPosition(given: held))
                let back = try await watch.begin(maria, from: .after(position))
                #expect(!back.isReset)
                let end = try await service.group("End", by: maria)
                let late = MemberID(id).description
                for begun in [stays, back] {
                    try await watch.wait(begun, for: .groupJoined, in: end)
                    #expect(watch.told(begun).contains { $0.memberID == late })
                }
                #expect(watch.told(stays).filter { $0.memberID == late }.count == 1)
                #expect(watch.resets == 0)
            }
        }
    }

    @Test func `A position that is too old, ahead, of another epoch or of the other log starts again`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let hub = Self.hub(service)
            try await TestWatch.run(hub) { watch in
                let now = try #require(GroupPosition(given: Array(try await watch.begin(maria).position)))
                let end = try #require(now.place.window).end
                let kept = hub.limits.kept.components.seconds
                func position(
                    _ epoch: GroupPosition.Epoch? = nil,
                    older seconds: Int64 = 0,
                    end: Int64 = end
                ) -> GroupPosition {
                    GroupPosition(
                        epoch: epoch ?? now.epoch,
                        madeAtSeconds: now.madeAtSeconds - seconds,
                        place: .clock(.init(end: end))
                    )
                }
                let other = GroupPosition.Epoch(systemIdentifier: 0, id: .init(high: 1, low: 1))
                let bySnapshot = GroupPosition(
                    epoch: now.epoch,
                    madeAtSeconds: now.madeAtSeconds,
                    snapshot: DatabaseSnapshot(horizon: 1)
                )
                let bad = [position(other), position(older: kept), position(end: end + 3_600_000_000), bySnapshot]
                for position in bad { #expect(try await watch.begin(maria, from: .after(position)).isReset) }
                #expect(try await !watch.begin(maria, from: .after(position())).isReset)
            }
        }
    }

    @Test func `A restored database has another epoch: all start again`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            try await TestWatch.run(Self.hub(service)) { watch in
                let begun = try await watch.begin(maria)
                try await service.database.execute("DELETE FROM group_event_epoch")
                try await watch.waitForResets(1)
                let group = try await service.group(by: maria)
                try await watch.wait(begun, for: .groupJoined, in: group)
            }
        }
    }

    @Test func `A subscriber who missed too much starts again`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let log = ClockGroupLog(database: service.database)
            let start = try await log.page(after: nil, limit: 0).head
            let count = GroupEventStore.examinedMax + 1
            try await service.database.execute(
                """
                INSERT INTO group_events (kind, user_id)
                SELECT 'invitation.changed', \(maria.uuid) FROM generate_series(1, \(count))
                """
            )
            let absent = AbsentSubscriber(userID: maria, place: start.place)
            #expect(try await log.missed(by: [absent], until: start.place, limit: 10).map(\.count) == [10])
            // Each row is on one page, whatever the size of the pages.
            var (position, read) = (start, 0)
            while true {
                let page = try await log.page(after: position, limit: 300)
                read += page.entries.count
                position = page.position(behind: page.entries.count)
                if !page.isFull { break }
            }
            #expect(read == count)
            #expect(try await log.page(after: position, limit: 300).entries.isEmpty)
        }
    }
}
