import API
import InvitesDomain
import Logging
import Models
import Postgres
import RPC
import ServiceModels
import Synchronization
import TestDatabases
import Testing

@testable import InvitesService

/// What users who watch their groups get, from which position, and from which replica.
@Suite(.timeLimit(.minutes(5)))
struct GroupWatchTests {
    @Test func `A user who joins a group by a number is notified, and so is the group`() async throws {
        try await InvitesFixture.run { service in
            let (maria, ana, other) = (someone(), someone(), someone())
            try await TestWatch.run(service.parts.groupEvents) { watch in
                let (asMaria, asAna) = (try await watch.begin(maria), try await watch.begin(ana))
                let asOther = try await watch.begin(other)
                let group = try await service.group(by: maria)
                let member = try await service.add(phone(1), to: group, by: maria)
                try await service.apply(claimed(1, by: ana))
                try await watch.wait(asAna, for: .groupJoined, in: group)
                #expect(watch.told(asAna).contains { $0.kind == .groupJoined && $0.memberID == member.memberID })
                try await watch.wait(asMaria, for: .memberChanged, in: group)
                #expect(watch.told(asMaria).contains { $0.kind == .groupJoined && $0.groupID == group })
                #expect(watch.told(asOther).isEmpty)
            }
        }
    }

    @Test func `A user who leaves is notified, and then gets nothing of the group`() async throws {
        try await InvitesFixture.run { service in
            let (maria, ana) = (someone(), someone())
            let group = try await service.group(by: maria)
            try await service.add(phone(1), to: group, by: maria)
            try await service.apply(claimed(1, by: ana))
            try await TestWatch.run(service.parts.groupEvents) { watch in
                let begun = try await watch.begin(ana)
                try await service.database.execute("DELETE FROM members WHERE user_id = \(ana.uuid)")
                try await watch.wait(begun, for: .groupLeft, in: group)
                let count = watch.told(begun).count
                try await service.add(phone(2), to: group, by: maria)
                // Her own group's event comes after it.
                let own = try await service.group(by: ana)
                try await watch.wait(begun, for: .groupJoined, in: own)
                #expect(watch.told(begun).dropFirst(count).allSatisfy { $0.groupID == own })
            }
        }
    }

    @Test(.readsLogsBySnapshots) func `Changes during a user's absence are sent once`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            try await TestWatch.run(service.parts.groupEvents) { watch in
                let first = try await watch.begin(maria)
                let member = try await service.add(phone(1), to: group, by: maria)
                try await watch.wait(first, for: .memberChanged, in: group)
                let position = try #require(GroupPosition(given: watch.position))
                let missed = try await service.add(phone(2), to: group, by: maria)
                let back = try await watch.begin(maria, from: .after(position))
                #expect(!back.isReset && back.changes.map(\.memberID) == [missed.memberID])
                let last = try await service.add(phone(3), to: group, by: maria)
                let end = try await service.group(by: maria)
                try await watch.wait(back, for: .groupJoined, in: end)
                #expect(
                    watch.told(back).filter { $0.groupID == group }.map(\.memberID) == [missed, last].map(\.memberID)
                )
                #expect(watch.told(first).filter { $0.memberID == member.memberID }.count == 1)
            }
        }
    }

    /// Transactions may commit in another order than they began.
    @Test(.waitsByLocksAlone) func `Changes that are committed late are sent once, with or without an absence`()
        async throws
    {
        try await InvitesFixture.run { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            let id = PostgresUUID(high: 9, low: 9)
            try await TestWatch.run(service.parts.groupEvents) { watch in
                let stays = try await watch.begin(maria)
                let held = try await service.database.withTransaction { transaction in
                    try await transaction.execute(
                        """
                        INSERT INTO members (group_id, member_id, phone, added_by, added_at)
                        VALUES (\(try #require(GroupID(group)).uuid), \(id), '639171234567', \(maria.uuid), now())
                        """
                    )
                    // It began later, and is sent earlier.
                    let early = try await service.group("Early", by: maria)
                    try await watch.wait(stays, for: .groupJoined, in: early)
                    return watch.position
                }
                let late = MemberID(id).description
                let position = try #require(GroupPosition(given: held))
                #expect(!position.snapshot.underWay.isEmpty)
                let back = try await watch.begin(maria, from: .after(position))
                let end = try await service.group("End", by: maria)
                for begun in [stays, back] {
                    try await watch.wait(begun, for: .groupJoined, in: end)
                    #expect(watch.told(begun).filter { $0.memberID == late }.count == 1)
                }
            }
        }
    }

    @Test(.readsLogsBySnapshots)

    func `A position that is too old, of another epoch or invalid starts again`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            try await TestWatch.run(service.parts.groupEvents) { watch in
                let now = try #require(GroupPosition(given: Array(try await watch.begin(maria).position)))
                let kept = service.parts.groupEvents.limits.kept.components.seconds
                let other = GroupPosition.Epoch(
                    systemIdentifier: now.epoch.systemIdentifier,
                    id: .init(high: 1, low: 1)
                )
                let ahead = try #require(
                    DatabaseSnapshot(
                        horizon: now.snapshot.horizon,
                        upper: now.snapshot.upper + 1_000_000,
                        underWay: []
                    )
                )
                let bad: [GroupPosition?] = [
                    nil,
                    GroupPosition(epoch: now.epoch, madeAtSeconds: now.madeAtSeconds - kept, snapshot: now.snapshot),
                    GroupPosition(epoch: other, madeAtSeconds: now.madeAtSeconds, snapshot: now.snapshot),
                    GroupPosition(epoch: now.epoch, madeAtSeconds: now.madeAtSeconds, snapshot: ahead),
                    GroupPosition(epoch: now.epoch, madeAtSeconds: now.madeAtSeconds + 3_600, snapshot: now.snapshot),
                ]
                for position in bad { #expect(try await watch.begin(maria, from: .after(position)).isReset) }
                let good = try await watch.begin(maria, from: .after(now))
                #expect(!good.isReset)
            }
        }
    }

    /// The table of the epoch is empty after a crash of PostgreSQL.
    @Test func `After a crash of the database all start again`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            try await TestWatch.run(service.parts.groupEvents) { watch in
                let begun = try await watch.begin(maria)
                let before = try #require(GroupPosition(given: watch.position))
                try await service.database.execute("DELETE FROM group_event_epoch")
                try await watch.waitForResets(1)
                #expect(try await watch.begin(maria, from: .after(before)).isReset)
                let group = try await service.group(by: maria)
                try await watch.wait(begun, for: .groupJoined, in: group)
            }
        }
    }

    @Test func `A user who gets or missed too many changes starts again, and nobody else does`() async throws {
        try await InvitesFixture.run { service in
            let (maria, ana) = (someone(), someone())
            var limits = GroupEventHub.Limits()
            (limits.changesPerLookMax, limits.missedMax) = (9, 3)
            let hub = GroupEventHub(
                store: GroupEventStore(database: service.database),
                limits: limits,
                logger: Logger(label: "test")
            )
            try await TestWatch.run(hub) { watch in
                let (asMaria, asAna) = (try await watch.begin(maria), try await watch.begin(ana))
                let before = try #require(GroupPosition(given: watch.position))
                try await service.database.execute(
                    """
                    INSERT INTO group_events (kind, user_id, group_id)
                    SELECT 'group.left', \(maria.uuid), gen_random_uuid() FROM generate_series(1, 10)
                    """
                )
                try await watch.waitForReset(of: asMaria)
                let back = try await watch.begin(maria, from: .after(before))
                #expect(back.isReset && back.changes.isEmpty)
                #expect(try await !watch.begin(ana, from: .after(before)).isReset)
                let group = try await service.group(by: ana)
                try await watch.wait(asAna, for: .groupJoined, in: group)
                #expect(watch.resets == 0 && watch.resets(of: asAna) == 0 && watch.resets(of: asMaria) == 1)
                #expect(watch.told(asMaria).isEmpty)
                #expect(hub.counts.count(of: .flood) == 1 && hub.counts.count(of: .missed) == 1)
            }
        }
    }

    @Test(.readsLogsBySnapshots) func `Another replica gets changes by the notification alone`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            var limits = GroupEventHub.Limits()
            limits.pollInterval = .seconds(3_600)
            let store = GroupEventStore(database: service.database)
            let here = GroupEventHub(store: store, limits: limits, logger: Logger(label: "test"))
            let there = GroupEventHub(store: store, limits: limits, logger: Logger(label: "test"))
            try await TestWatch.run(there) { watch in
                let begun = try await watch.begin(maria)
                var isListening = false
                while !isListening {
                    isListening = try await !service.database.query(
                        "SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()"
                    ).isEmpty
                }
                let group = try await service.group(by: maria)
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    tasks.addTask { await here.run() }
                    here.announce()
                    try await watch.wait(begun, for: .groupJoined, in: group)
                    tasks.cancelAll()
                }
            }
        }
    }

    @Test func `A stream that reads nothing is cut off, and one beyond the limit isn't opened`() async throws {
        try await InvitesFixture.run { service in
            var limits = GroupEventHub.Limits()
            (limits.streamsMax, limits.watchesMax) = (1, 2)
            let hub = GroupEventHub(
                store: GroupEventStore(database: service.database),
                limits: limits,
                logger: Logger(label: "test")
            )
            let stream = try #require(hub.open())
            #expect(hub.open() == nil)
            for id in 1...3 as ClosedRange<UInt64> { hub.begin(id, of: someone(), from: .now, on: stream) }
            #expect(hub.watchCount == 2)
            let refused = await stream.next() ?? []
            #expect(refused.map(\.refused.reason) == ["TOO_MANY_WATCHES"])
            var count = 0
            while count <= GroupEventStream.messagesMax {
                hub.refuse(1, "X", on: stream)
                count += 1
            }
            #expect(await stream.ended() == .behind)
            hub.close(stream)
            #expect(hub.watchCount == 0)
            hub.stop()
            #expect(hub.open() == nil)
        }
    }

    @Test func `Each watch proves its user, and a stream ends when the server stops`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let proof = try #require(service.options(for: maria).metadata.first("vestibule-caller-proof"))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                defer { tasks.cancelAll() }
                tasks.addTask { await service.parts.groupEvents.run() }
                let error = try await failure {
                    try await service.invites.watchGroups { requests, messages in
                        for (id, proof) in [(1, ""), (2, "nonsense"), (3, proof)] as [(UInt64, String)] {
                            var request = InvitesV1.WatchGroupsRequest()
                            (request.watchID, request.begin.callerProof) = (id, proof)
                            try await requests.write(request)
                        }
                        var told: [String] = []
                        for try await message in messages {
                            switch message.news {
                            case .refused(let refused): told.append("\(refused.watchID) \(refused.reason)")
                            case .begun(let begun): told.append("\(begun.watchID) begun")
                            case .changed, nil: continue
                            }
                            guard told.count == 3 else { continue }
                            #expect(
                                told.sorted() == ["1 CALLER_PROOF_REQUIRED", "2 CALLER_PROOF_INVALID", "3 begun"]
                            )
                            service.parts.groupEvents.stop()
                        }
                    }
                }
                #expect(error.code == .unavailable)
            }
        }
    }

    @Test(.readsLogsBySnapshots) func `Users whom a group invites get its new name, also later`() async throws {
        try await InvitesFixture.run { service in
            let (maria, ana, stranger) = (someone(), someone(), someone())
            let group = try await service.group(.consent, by: maria).groupID
            try await service.add(phone(1), to: group, by: maria)
            try await service.apply(claimed(1, by: ana))
            try await TestWatch.run(service.parts.groupEvents) { watch in
                let (asAna, asOther) = (try await watch.begin(ana), try await watch.begin(stranger))
                let asMaria = try await watch.begin(maria)
                let before = try #require(GroupPosition(given: watch.position))
                _ = try await service.update(group, by: maria, name: "Climbers")
                try await watch.wait(asAna, for: .invitationChanged, in: "")
                try await watch.wait(asMaria, for: .groupChanged, in: group)
                #expect(watch.told(asAna).count == 1 && watch.told(asOther).isEmpty)
                let back = try await watch.begin(ana, from: .after(before))
                #expect(!back.isReset && back.changes.map(\.kind) == [.invitationChanged])
                let members = try await watch.begin(maria, from: .after(before))
                #expect(members.changes.map(\.kind) == [.groupChanged])
            }
        }
    }

    @Test func `A block that hides an invitation is sent to the user's own devices`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, other) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let group = try await service.group(.consent, by: maria).groupID
            try await service.add(phone(1), to: group, by: maria)
            try await TestWatch.run(service.parts.groupEvents) { watch in
                let asJose = try await watch.begin(jose)
                try await service.block(other, by: jose)
                try await service.block(maria, by: jose)
                try await watch.wait(asJose, for: .invitationChanged, in: "")
                try await service.unblock(maria, by: jose)
                #expect(try await service.count("SELECT count(*) FROM group_events WHERE user_id = '\(jose)'") >= 3)
                let ofJose =
                    "SELECT count(*) FROM group_events WHERE user_id = '\(jose)' AND kind <> 'invitation.changed'"
                #expect(try await service.count(ofJose) == 0)
            }
        }
    }

    /// A limit that the database refuses simulates any failure of that one statement.
    @Test func `If missed changes can't be read, their user starts again, and all others get theirs`() async throws {
        try await InvitesFixture.run { service in
            let (maria, ana) = (someone(), someone())
            var limits = GroupEventHub.Limits()
            limits.missedMax = -1
            let hub = GroupEventHub(
                store: GroupEventStore(database: service.database),
                limits: limits,
                logger: Logger(label: "test")
            )
            try await TestWatch.run(hub) { watch in
                let begun = try await watch.begin(maria)
                let position = try #require(GroupPosition(given: watch.position))
                async let back = watch.begin(ana, from: .after(position))
                let group = try await service.group(by: maria)
                try await watch.wait(begun, for: .groupJoined, in: group)
                #expect(try await back.isReset)
                #expect(hub.behindTime == .zero)
            }
        }
    }

    @Test func `Changes are deleted in time, and with the account`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            _ = try await service.group(by: maria)
            #expect(try await service.count("SELECT count(*) FROM group_events") == 2)
            #expect(try await service.parts.groupEvents.forget(limit: 10) == 0)
            var close = InvitesV1.CloseAccountRequest()
            close.userID = maria.description
            _ = try await service.invites.closeAccount(close)
            let ofMaria = "SELECT count(*) FROM group_events WHERE user_id = '\(maria)'"
            #expect(try await service.count(ofMaria) == 0)
            #expect(try await service.count("SELECT count(*) FROM group_events") > 0)
            try await service.database.execute("UPDATE group_events SET made_at = made_at - interval '1 day'")
            while try await service.parts.groupEvents.forget(limit: 1) > 0 {}
            #expect(try await service.count("SELECT count(*) FROM group_events") == 0)
        }
    }
}
