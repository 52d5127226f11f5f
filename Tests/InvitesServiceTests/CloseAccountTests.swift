import API
import InvitesDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import SwiftProtobuf
import TestDatabases
import Testing

@testable import InvitesService

/// Data of a closed account is deleted.
@Suite(.serialized) struct CloseAccountTests {
    @Test func `The user leaves all groups, and no data is left`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: maria))
            let group = try await service.group(by: jose, called: "Jose")
            try await service.add(phone(1), to: group, by: jose)
            try await service.add(phone(2), to: group, by: maria)
            try await service.close(maria)
            #expect(try await service.groups(of: maria).groups.isEmpty)
            let members = try await service.members(of: group, askedBy: jose).members
            #expect(members.map(\.phoneNumber) == ["", e164(2)], "whom she invited is the group's")
            let traces = """
                SELECT (SELECT count(*) FROM members WHERE '\(maria)' IN (user_id::text, added_by::text))
                    + (SELECT count(*) FROM groups WHERE owner_user_id::text = '\(maria)')
                    + (SELECT count(*) FROM group_keys WHERE user_id::text = '\(maria)')
                    + (SELECT count(*) FROM quotas WHERE subject = uuid_send('\(maria)'))
                """
            #expect(try await service.count(traces) == 0)
            try await service.apply(releasedByDeletion(1, by: maria))
            #expect(try await service.count("SELECT count(*) FROM phones WHERE phone = '\(e164(1).dropFirst())'") == 0)
        }
    }

    @Test func `A group goes to its longest-standing member; a group without members is deleted`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let kept = try await service.group("Kept", by: maria)
            let alone = try await service.group("Alone", by: maria)
            try await service.add(phone(3), to: kept, by: maria)
            try await service.add(phone(3), to: alone, by: maria)
            // Jose was invited first, and Ana joined first.
            try await service.add(phone(1), to: kept, by: maria)
            try await service.add(phone(2), to: kept, by: maria)
            try await service.apply(claimed(2, by: ana))
            try await service.apply(claimed(1, by: jose))
            try await service.close(maria)
            #expect(try await service.groups(of: jose).groups.map(\.ownerUserID) == [ana.description])
            #expect(try await service.members(of: kept, askedBy: ana).members.count == 3)
            #expect(try await service.count("SELECT count(*) FROM groups") == 1)
            #expect(try await service.count("SELECT count(*) FROM members WHERE group_id::text = '\(alone)'") == 0)
            try await service.close(ana)
            #expect(try await service.groups(of: jose).groups.map(\.ownerUserID) == [jose.description])
            try await service.close(jose)
            #expect(try await service.count("SELECT count(*) FROM groups") == 0)
        }
    }

    @Test func `Closing again changes nothing, and closes no other account`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            _ = try await service.group(by: jose)
            for _ in 0..<2 { try await service.close(maria) }
            #expect(try await service.groups(of: jose).groups.count == 1)
            #expect(try await service.count("SELECT count(*) FROM closed_accounts") == 1)
            let error = try await failure { try await service.invites.closeAccount(.with { $0.userID = "me" }) }
            #expect(error.code == .invalidArgument && error.reason == "USER_ID_INVALID")
        }
    }

    @Test func `A late event links nobody, and a number that it gives to the closed account has no owner`()
        async throws
    {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(by: jose)
            try await service.add(phone(1), to: group, by: jose)
            try await service.apply(claimed(2, by: maria))
            try await service.close(maria)
            #expect(try await service.apply(claimed(1, by: maria)) == 0)
            // Profile's release of the other number is still being delivered.
            #expect(try await service.add(phone(2), to: group, by: jose).state == .pending)
            try await service.apply(releasedByDeletion(2, by: maria))
            #expect(try await service.apply(claimed(2, by: someone())) == 1)
            #expect(
                try await service.members(of: group, askedBy: jose).members.map(\.state) == [
                    .member, .pending, .member,
                ]
            )
            let error = try await failure { try await service.group(by: maria) }
            #expect(error.code == .unauthenticated && error.reason == "SESSION_REVOKED")
        }
    }

    @Test func `Concurrent changes at the closing are deleted a minute later`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(by: jose)
            try await service.close(maria)
            // The state left by a transaction that began before the closing, and did not see it.
            try await service.database.execute(
                """
                INSERT INTO members (group_id, member_id, user_id, added_by, added_at, linked_at)
                SELECT group_id, gen_random_uuid(), \(maria.uuid), \(maria.uuid), now(), now() FROM groups
                """
            )
            try await service.database.execute(
                """
                INSERT INTO groups (group_id, name, owner_user_id, created_by, created_at)
                VALUES (gen_random_uuid(), 'x', \(maria.uuid), \(maria.uuid), now())
                """
            )
            await service.parts.closings.round()
            #expect(try await service.groups(of: maria).groups.count == 1, "not yet")
            service.clock.advance(milliseconds: 60_000)
            await service.parts.closings.round()
            #expect(try await service.groups(of: maria).groups.isEmpty)
            #expect(try await service.count("SELECT count(*) FROM groups") == 1)
            #expect(try await service.members(of: group, askedBy: jose).members.count == 1)
            service.clock.advance(milliseconds: 60 * 86_400_000)
            await service.parts.cleanup.clean()
            #expect(try await service.count("SELECT count(*) FROM closed_accounts") == 0)
        }
    }

    @Test func `A user who is added during the closing is not a member after it`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(by: jose)
            try await service.apply(claimed(1, by: maria))
            // An addition that has found that the number is Maria's, and has not added her yet.
            let closing = try await service.database.withTransaction { adding in
                _ = try await adding.query("SELECT FROM phones FOR UPDATE")
                let closing = Task { try await service.close(maria) }
                var triesLeft = 100
                while triesLeft > 0, try await service.database.lockWaitCount() == 0 {
                    triesLeft -= 1
                    try await Task.sleep(for: .milliseconds(5))
                }
                try await adding.execute(
                    """
                    INSERT INTO members (group_id, member_id, user_id, phone, added_by, added_at, linked_at)
                    SELECT group_id, gen_random_uuid(), \(maria.uuid), phone, \(jose.uuid), now(), now() FROM groups, phones
                    """
                )
                return closing
            }
            try await closing.value
            #expect(try await service.members(of: group, askedBy: jose).members.count == 1)
            #expect(try await service.add(phone(1), to: group, by: jose).state == .pending)
        }
    }

    @Test func `A user who is linked during the closing is not a member after it`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(by: jose)
            try await service.add(phone(1), to: group, by: jose)
            // A claim that has found the account open, and has not linked it yet.
            let closing = try await service.database.withTransaction { linking in
                _ = try await linking.query("SELECT FROM user_locks FOR SHARE")
                let closing = Task { try await service.close(maria) }
                var triesLeft = 100
                while triesLeft > 0, try await service.database.lockWaitCount() == 0 {
                    triesLeft -= 1
                    try await Task.sleep(for: .milliseconds(5))
                }
                try await linking.execute("UPDATE phones SET user_id = \(maria.uuid)")
                try await linking.execute(
                    "UPDATE members SET user_id = \(maria.uuid), linked_at = now() WHERE user_id IS NULL"
                )
                return closing
            }
            try await closing.value
            #expect(try await service.members(of: group, askedBy: jose).members.count == 1)
        }
    }

    @Test(.waitsByLocksAlone) func `A user whose account is being closed adds nobody`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(by: jose)
            try await service.add(phone(1), to: group, by: jose)
            try await service.apply(claimed(1, by: maria))
            let adding = try await service.database.withTransaction { closing in
                _ = try await closing.query("SELECT FROM groups FOR UPDATE")
                let adding = Task { try await service.add(phone(2), to: group, by: maria) }
                try await service.database.waitForLockWaits()
                try await closing.execute("DELETE FROM members WHERE user_id = \(maria.uuid)")
                return adding
            }
            #expect(try await failure { try await adding.value }.reason == "NOT_A_MEMBER")
            #expect(try await service.count("SELECT count(*) FROM members") == 1)
        }
    }

    @Test(arguments: 1...3)
    func `Concurrent links, invitations and closings leave nothing after the cleanup`(seed: UInt64) async throws {
        try await InvitesFixture.run { service in
            var generator = SeededGenerator(state: seed)
            for round in 0..<5 {
                let (maria, jose) = (someone(), someone())
                let hers = try await service.group("Hers", by: maria)
                let his = try await service.group("His", by: jose)
                let first = round * 10
                for number in first..<first + 3 {
                    try await service.add(phone(number), to: hers, by: maria)
                    try await service.add(phone(number), to: his, by: jose)
                }
                let isJoseLinked = Bool.random(using: &generator)
                try await withThrowingTaskGroup { tasks in
                    tasks.addTask { try await service.close(maria) }
                    tasks.addTask { try await service.apply(claimed(first, by: maria)) }
                    if isJoseLinked { tasks.addTask { try await service.apply(claimed(first + 1, by: jose)) } }
                    tasks.addTask {
                        do throws(RPCError) {
                            try await service.add(phone(first + 5), to: hers, by: maria)
                        } catch {
                            #expect(error.reason == "NOT_A_MEMBER")
                        }
                    }
                    tasks.addTask { _ = try? await service.group("More", by: maria) }
                    try await tasks.waitForAll()
                }
                service.clock.advance(milliseconds: 60_000)
                await service.parts.closings.round()
                #expect(
                    try await service.count(
                        """
                        SELECT (SELECT count(*) FROM members WHERE '\(maria)' IN (user_id::text, added_by::text))
                            + (SELECT count(*) FROM groups WHERE owner_user_id::text = '\(maria)')
                        """
                    ) == 0
                )
                // A group exists exactly if it has a member, who owns it.
                #expect(
                    try await service.count(
                        """
                        SELECT count(*) FROM groups g WHERE NOT EXISTS (
                            SELECT FROM members m WHERE m.group_id = g.group_id AND m.user_id = g.owner_user_id)
                        """
                    ) == 0
                )
                #expect(try await service.groups(of: jose).groups.count == (isJoseLinked ? service.hers(hers) + 1 : 1))
            }
        }
    }
}

extension InvitesFixture {
    /// Reports that an account was closed.
    func close(_ userID: UserID) async throws {
        _ = try await invites.closeAccount(.with { $0.userID = userID.description })
    }

    /// 1 if a group exists, else 0.
    fileprivate func hers(_ group: String) async throws -> Int {
        Int(try await count("SELECT count(*) FROM groups WHERE group_id::text = '\(group)'"))
    }
}

/// The event that a user's number is free because the account was closed.
func releasedByDeletion(_ number: Int, by user: UserID) -> InvitesV1.PhoneEvent {
    var event = released(number, by: user)
    event.released.byDeletion = true
    return event
}
