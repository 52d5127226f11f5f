import API
import InvitesDomain
import Logging
import Models
import Postgres
import ServiceModels
import TestDatabases
import Testing

@testable import InvitesService

/// What one account's load is to others: more to read, and no reset.
@Suite(.timeLimit(.minutes(5)))
struct GroupWatchLoadTests {
    private static func hub(
        _ service: InvitesFixture,
        _ change: (inout GroupEventHub.Limits) -> Void = { _ in }
    ) -> GroupEventHub {
        var limits = GroupEventHub.Limits()
        limits.pollInterval = .milliseconds(5)
        change(&limits)
        return GroupEventHub(
            store: GroupEventStore(database: service.database),
            limits: limits,
            logger: Logger(label: "test")
        )
    }

    @Test func `A user without groups gets no events when somebody leaves thousands of groups at once`() async throws {
        try await InvitesFixture.run { service in
            let (watcher, leaver) = (someone(), someone())
            try await service.database.execute(
                """
                WITH made AS (
                    INSERT INTO groups (group_id, name, owner_user_id, created_by, created_at)
                    SELECT gen_random_uuid(), 'Hikers', \(leaver.uuid), \(leaver.uuid), now() FROM generate_series(1, 5200)
                    RETURNING group_id
                )
                INSERT INTO members (group_id, member_id, user_id, added_by, added_at, linked_at)
                SELECT group_id, gen_random_uuid(), \(leaver.uuid), \(leaver.uuid), now(), now() FROM made
                """
            )
            let hub = Self.hub(service)
            try await TestWatch.run(hub) { watch in
                let (asWatcher, asLeaver) = (try await watch.begin(watcher), try await watch.begin(leaver))
                let before = try #require(GroupPosition(given: watch.position))
                try await service.database.execute("DELETE FROM members WHERE user_id = \(leaver.uuid)")
                // Behind all of it.
                let group = try await service.group(by: watcher)
                try await watch.wait(asWatcher, for: .groupJoined, in: group)
                try await watch.waitForReset(of: asLeaver)
                #expect(watch.resets == 0 && watch.resets(of: asWatcher) == 0)
                #expect(watch.told(asWatcher).allSatisfy { $0.groupID == group })
                let back = try await watch.begin(watcher, from: .after(before))
                #expect(!back.isReset && back.changes.allSatisfy { $0.groupID == group })
            }
        }
    }

    /// A page ends within the one transaction that writes all of it. In each group fewer members change than are collapsed into one
    /// change, however many pages were missed.
    @Test(.readsLogsBySnapshots)
    func `Of twelve thousand changes at once a watcher gets all of their own, in order and once`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            var groups: [String] = []
            for _ in 0..<12 { groups.append(try await service.group(by: maria)) }
            let ids = groups.compactMap { GroupID($0)?.uuid }
            #expect(120 / ids.count <= GroupChangeSet.membersToldMax)
            let hub = Self.hub(service)
            try await TestWatch.run(hub) { watch in
                let stays = try await watch.begin(maria)
                // Before the changes are written: a subscription without a position begins wherever the hub is, perhaps amid them.
                let begun = try await watch.begin(maria)
                async let goes = Self.comeAndGo(maria, watch, begun)
                try await service.database.execute(
                    """
                    INSERT INTO group_events (kind, group_id, member_id)
                    SELECT 'member.changed',
                        CASE WHEN i % 100 = 0 THEN (\(ids)::uuid[])[i / 100 % \(ids.count) + 1] ELSE gen_random_uuid() END,
                        ('00000000-0000-0000-0000-' || lpad(to_hex(i), 12, '0'))::uuid
                    FROM generate_series(1, 12000) i ORDER BY i
                    """
                )
                let (told, last) = try await goes
                let end = try await service.group("End", by: maria)
                try await watch.wait(stays, for: .groupJoined, in: end)
                try await watch.wait(last, for: .groupJoined, in: end)
                let wanted = (1...120).map { MemberID(high: 0, low: UInt64($0 * 100)).description }
                func members(_ changes: [AppV1.GroupChange]) -> [String] {
                    changes.filter { groups.contains($0.groupID) && $0.kind == .memberChanged }.map(\.memberID)
                }
                #expect(members(watch.told(stays)) == wanted)
                // A position that was given within the burst goes on there.
                #expect(members(told + watch.told(last)) == wanted)
                #expect(watch.resets == 0 && watch.resets(of: stays) == 0)
            }
        }
    }

    private static func comeAndGo(
        _ user: UserID,
        _ watch: TestWatch,
        _ first: InvitesV1.WatchBegun
    ) async throws -> (told: [AppV1.GroupChange], last: InvitesV1.WatchBegun) {
        var told: [AppV1.GroupChange] = []
        var begun = first
        for _ in 0..<30 {
            try await Task.sleep(for: .milliseconds(5))
            let (changes, position) = watch.leave(begun)
            told += changes
            begun = try await watch.begin(user, from: .after(GroupPosition(given: position)))
            #expect(!begun.isReset)
        }
        return (told, begun)
    }

    /// Whatever the plan, since it is rows that are counted.
    @Test func `Members who do not watch are not read`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let groups = [GroupID(high: 1, low: 1), GroupID(high: 1, low: 2), GroupID(high: 1, low: 3)]
            for group in groups {
                try await service.database.execute(
                    """
                    INSERT INTO groups (group_id, name, owner_user_id, created_by, created_at, openness)
                    VALUES (\(group.uuid), 'Hikers', gen_random_uuid(), gen_random_uuid(), now(), 'consent')
                    """
                )
                try await service.database.execute(
                    """
                    INSERT INTO members (group_id, member_id, user_id, added_by, added_at, linked_at)
                    SELECT \(group.uuid), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), now()
                    FROM generate_series(1, 500)
                    """
                )
                try await service.add(waiting: 100, in: group)
            }
            try await service.database.execute(
                """
                INSERT INTO members (group_id, member_id, user_id, added_by, added_at, linked_at)
                VALUES (\(groups[0].uuid), gen_random_uuid(), \(maria.uuid), gen_random_uuid(), now(), now())
                """
            )
            // Two numbers of the same person in the same group.
            try await service.database.execute("UPDATE phones SET user_id = \(jose.uuid) WHERE phone LIKE '63918%1'")
            let store = GroupEventStore(database: service.database)
            let events = groups.flatMap { group in
                [GroupEventStore.Event.Audience.members(group), .awaited(group)].map {
                    GroupEventStore.Event(change: GroupChange(.groupChanged, groupID: group), audience: $0)
                }
            }
            for others in [0, 50] {
                let watching = [maria, jose] + (0..<others).map { _ in someone() }
                let audiences = try await store.audiences(of: events, watching: watching)
                #expect(audiences.members == [groups[0]: [maria]])
                #expect(audiences.awaited == [groups[0]: [jose], groups[1]: [jose], groups[2]: [jose]])
                #expect(audiences.count == 4)
            }
            #expect(try await store.audiences(of: events, watching: []).count == 0)
            let elsewhere = (0..<GroupEventStore.watchingMax + 1).map { _ in someone() }
            #expect(try await store.audiences(of: events, watching: elsewhere + [maria]).count == 1)
        }
    }

    @Test func `A message that would be too large is sent in parts`() throws {
        var limits = GroupEventHub.Limits()
        limits.changesPerLookMax = 1_000_000
        var state = GroupEventState(limits: limits)
        let opened = state.open()
        let stream = try #require(opened)
        let position = GroupPosition(
            epoch: GroupPosition.Epoch(systemIdentifier: 1, id: PostgresUUID(high: 1, low: 1)),
            madeAtSeconds: 1,
            point: GroupLogPoint(DatabaseSnapshot(horizon: 5))
        )
        let users = (0..<1_000).map { _ in someone() }
        for (index, user) in users.enumerated() {
            let watch = GroupEventState.Watch(stream: stream.number, id: UInt64(index))
            let beginning = GroupEventState.Beginning(watch: watch, userID: user, start: .now)
            let isTaken = state.await(beginning)
            let begun = GroupEventState.Begun(beginning: beginning, reset: nil, changes: GroupChangeSet())
            let begins = state.begin([begun], at: position)
            #expect(isTaken && begins.count == 1)
        }
        var audiences = GroupEventStore.Audiences()
        let events = (0..<600).map { number in
            let group = GroupID(high: 2, low: UInt64(number))
            audiences.members[group] = users
            return GroupEventStore.Event(
                change: GroupChange(.groupChanged, groupID: group),
                audience: .members(group)
            )
        }
        let whole = state.publish(events, upTo: position, audiences)
        #expect(whole == nil && state.known == nil)
        let half = state.publish(Array(events.prefix(300)), upTo: position, audiences)
        let published = try #require(half)
        #expect(published.messages.count == 1 && published.messages[0].message.changed.watched.count == 300)
        #expect(!published.messages[0].message.changed.isReset && state.known == position)
    }
}

extension InvitesFixture {
    /// Has a group wait for numbers that strangers have.
    fileprivate func add(waiting count: Int, in group: GroupID) async throws {
        try await database.execute(
            """
            WITH numbers AS (
                INSERT INTO phones (phone, user_id)
                SELECT '63918' || lpad(i::text, 7, '0'), gen_random_uuid() FROM generate_series(1, \(count)) i
                ON CONFLICT (phone) DO NOTHING
            )
            INSERT INTO members (group_id, member_id, phone, added_by, added_at)
            SELECT \(group.uuid), gen_random_uuid(), '63918' || lpad(i::text, 7, '0'), gen_random_uuid(), now()
            FROM generate_series(1, \(count)) i
            """
        )
    }
}
