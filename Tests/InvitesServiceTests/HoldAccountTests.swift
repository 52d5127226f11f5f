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

/// A user without a group is held while another account may absorb theirs.
@Suite(.serialized) struct HoldAccountTests {
    @Test func `Nothing changes for a held user, and nothing is dropped`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(by: jose)
            try await service.add(phone(1), to: group, by: jose)
            let absorption = EventID.of(1)
            for _ in 0..<2 { #expect(try await service.hold(maria, absorption)) }
            let error = try await failure { try await service.group(by: maria) }
            #expect(error.code == .unavailable && error.reason == "ACCOUNT_HELD" && error.retryAfter != nil)
            let event = claimed(1, by: maria)
            #expect(try await failure { try await service.apply(event) }.reason == "ACCOUNT_HELD")
            // Other users' events continue.
            try await service.apply(claimed(2, by: someone()))
            try await service.reopen(maria, absorption)
            #expect(try await service.apply(event) == 1)
            #expect(try await service.groups(of: maria).groups.count == 1)
            _ = try await service.group(by: maria)
        }
    }

    @Test func `A user who is in a group, or created one, is not held`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: maria))
            let group = try await service.group(by: jose)
            try await service.add(phone(1), to: group, by: jose)
            #expect(try await !service.hold(maria, EventID.of(1)))
            #expect(try await !service.hold(jose, EventID.of(2)))
            #expect(try await service.count("SELECT count(*) FROM held_accounts") == 0)
            // A refusal stays, whatever has changed since.
            try await service.database.execute("DELETE FROM members WHERE user_id IS NOT NULL")
            #expect(try await !service.hold(maria, EventID.of(1)))
            #expect(try await service.hold(maria, EventID.of(3)))
        }
    }

    @Test func `A held user doesn't become a member by their former number`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: maria))
            let group = try await service.group(by: jose)
            #expect(try await service.hold(maria, EventID.of(1)))
            let error = try await failure { try await service.add(phone(1), to: group, by: jose) }
            #expect(error.code == .unavailable && error.reason == "ACCOUNT_HELD")
            try await service.add(phone(2), to: group, by: jose)
            try await service.reopen(maria, EventID.of(1))
            try await service.add(phone(1), to: group, by: jose)
            #expect(try await service.groups(of: maria).groups.count == 1)
        }
    }

    @Test func `A call after the end of its absorption holds nobody`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            try await service.reopen(maria, EventID.of(1))
            #expect(try await !service.hold(maria, EventID.of(1)))
            #expect(try await service.hold(maria, EventID.of(2)))
            // A call of another absorption.
            try await service.reopen(maria, EventID.of(1))
            #expect(try await failure { try await service.hold(maria, EventID.of(3)) }.reason == "ACCOUNT_HELD")
            try await service.reopen(maria, EventID.of(2))
            _ = try await service.group(by: maria)
        }
    }

    @Test func `A group created while the hold ends is created or refused for the hold, not for too many groups`()
        async throws
    {
        try await InvitesFixture.run { service in
            try await withThrowingTaskGroup { tasks in
                for index in 1...80 as ClosedRange<UInt64> {
                    let user = someone()
                    #expect(try await service.hold(user, EventID.of(index)))
                    for _ in 0..<4 {
                        tasks.addTask {
                            do {
                                _ = try await service.group(by: user)
                            } catch let error as RPCError {
                                #expect(error.reason == "ACCOUNT_HELD")
                            }
                        }
                    }
                    tasks.addTask { try await service.reopen(user, EventID.of(index)) }
                }
                try await tasks.waitForAll()
            }
        }
    }

    @Test func `Closing ends the hold, and a deleted user counts as empty`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            #expect(try await service.hold(maria, EventID.of(1)))
            try await service.close(maria)
            #expect(try await service.count("SELECT count(*) FROM held_accounts") == 0)
            #expect(try await service.hold(maria, EventID.of(1)))
            #expect(try await service.count("SELECT count(*) FROM held_accounts") == 0)
            #expect(try await failure { try await service.group(by: maria) }.reason == "SESSION_REVOKED")
            service.clock.advance(milliseconds: 86_400_000)
            try await service.reopen(someone(), EventID.of(9))
            service.clock.advance(milliseconds: 86_400_000)
            await service.parts.cleanup.clean()
            #expect(try await service.count("SELECT count(*) FROM refused_absorptions") == 0)
        }
    }

    @Test func `Malformed ids are refused`() async throws {
        try await InvitesFixture.run { service in
            let user = someone().description
            let wrong = InvitesV1.CloseIfEmptyRequest.with { ($0.userID, $0.absorptionID) = (user, "x") }
            let first = try await failure { try await service.invites.closeIfEmpty(wrong) }
            #expect(first.reason == "ABSORPTION_ID_INVALID")
            let other = InvitesV1.ReopenAccountRequest.with { ($0.userID, $0.absorptionID) = ("x", user) }
            let second = try await failure { try await service.invites.reopenAccount(other) }
            #expect(second.reason == "USER_ID_INVALID")
        }
    }

    @Test(.waitsByLocksAlone) func `A hold waits for an addition of the user's number, and sees the member`()
        async throws
    {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: maria))
            let group = try await service.group(by: jose)
            let groupID = try #require(GroupID(group))
            let holding = try await service.database.withTransaction { adding in
                // The state of an addition that has locked the number and checked that its owner isn't held.
                try await adding.query("SELECT FROM phones WHERE phone = \(String(e164(1).dropFirst())) FOR UPDATE")
                let holding = Task { try await service.hold(maria, EventID.of(1)) }
                try await service.database.waitForLockWaits(
                    orUntil: { try await service.count("SELECT count(*) FROM held_accounts") > 0 }
                )
                try await adding.execute(
                    """
                    INSERT INTO members (group_id, member_id, user_id, phone, added_by, added_at, linked_at)
                    VALUES (\(groupID.uuid), gen_random_uuid(), \(maria.uuid), \(String(e164(1).dropFirst())), \(jose.uuid),
                        now(), now())
                    """
                )
                return holding
            }
            #expect(try await !holding.value, "she is in a group")
            #expect(try await service.count("SELECT count(*) FROM held_accounts") == 0)
        }
    }

    @Test(.waitsByLocksAlone) func `An addition that waits for a number while its owner is held adds no member`()
        async throws
    {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: maria))
            let group = try await service.group(by: jose)
            let adding = try await service.database.withTransaction { holding in
                try await holding.query("SELECT FROM phones WHERE user_id = \(maria.uuid) FOR UPDATE")
                let adding = Task { try await service.add(phone(1), to: group, by: jose) }
                try await service.database.waitForLockWaits()
                try await holding.execute(
                    """
                    INSERT INTO held_accounts (user_id, absorption_id, held_at)
                    VALUES (\(maria.uuid), \(EventID.of(1).uuid), now())
                    """
                )
                return adding
            }
            #expect(try await failure { try await adding.value }.reason == "ACCOUNT_HELD")
            #expect(try await service.groups(of: maria).groups.isEmpty)
        }
    }

    /// Of a hold and a concurrent gain of the user one is first, and the other sees it.
    @Test(arguments: 1...3)
    func `A held user has nothing, and a user who has something isn't held`(seed: Int) async throws {
        try await InvitesFixture.run { service in
            let jose = someone()
            let group = try await service.group(by: jose)
            for round in 0..<20 {
                let maria = someone()
                let number = 100 * seed + round
                try await service.add(phone(number), to: group, by: jose)
                // She already has another number, by which she is being added now.
                try await service.apply(claimed(number + 50, by: maria))
                let second = try await service.group(by: jose)
                let absorption = EventID.of(UInt64(number))
                async let isHeld = service.hold(maria, absorption)
                async let made: String? = try? service.group(by: maria)
                async let linked: Int32? = try? service.apply(claimed(number, by: maria))
                async let added = try? service.add(phone(number + 50), to: second, by: jose)
                let outcome = try await (isHeld, [made != nil, linked != nil, added != nil])
                #expect(outcome.0 == !outcome.1.contains(true), "\(outcome)")
                let groups = try await service.groups(of: maria).groups.count
                #expect(groups == outcome.1.count { $0 })
            }
        }
    }
}

extension InvitesFixture {
    func hold(_ userID: UserID, _ absorption: EventID) async throws -> Bool {
        try await invites.closeIfEmpty(
            .with { ($0.userID, $0.absorptionID) = (userID.description, absorption.description) }
        ).isEmpty
    }

    func reopen(_ userID: UserID, _ absorption: EventID) async throws {
        _ = try await invites.reopenAccount(
            .with { ($0.userID, $0.absorptionID) = (userID.description, absorption.description) }
        )
    }
}

extension EventID {
    /// A distinct id.
    static func of(_ number: UInt64) -> EventID { EventID(high: 7, low: number) }
}
