import API
import Models
import Postgres
import RPC
import ServiceModels
import SwiftProtobuf
import Testing

@testable import InvitesService

/// Whose additions users don't want.
@Suite(.serialized) struct BlockTests {
    @Test func `A blocked inviter adds nobody, and sees no difference`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: jose))
            try await service.block(maria, by: jose)
            let group = try await service.group(by: maria)
            let his = try await service.add(phone(1), to: group, by: maria)
            let nobodys = try await service.add(phone(2), to: group, by: maria)
            #expect(his.state == .pending && his.userID.isEmpty && nobodys.state == .pending)
            #expect(try await service.add(phone(1), to: group, by: maria) == his)
            // Also when the number comes later, or again.
            try await service.apply(released(1, by: jose), claimed(1, by: jose))
            let other = try await service.group(by: maria)
            try await service.add(phone(3), to: other, by: maria)
            #expect(try await service.apply(claimed(3, by: jose)) == 0)
            #expect(
                try await service.members(of: group, askedBy: maria).members.map(\.state) == [
                    .member, .pending, .pending,
                ]
            )
            #expect(try await service.pending(of: group, askedBy: maria).people.allSatisfy { $0.userID.isEmpty })
            #expect(try await service.groups(of: jose).groups.isEmpty)
            #expect(try await service.invitations(of: jose).invitations.isEmpty)
            // By others he is added as ever, and is there once.
            let ana = someone()
            try await service.join([ana], to: group, by: maria)
            let member = try await service.add(phone(1), to: group, by: ana)
            #expect(member.state == .member && member.userID == jose.description)
            #expect(
                try await service.members(of: group, askedBy: maria).members.map(\.phoneNumber).sorted() == [
                    "", e164(1), e164(2), e164(500),
                ]
            )
        }
    }

    @Test func `Memberships stay, and what waits in open groups makes a member when the block ends`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let before = try await service.group(by: maria)
            try await service.add(phone(1), to: before, by: maria)
            for _ in 0..<2 { try await service.block(maria, by: jose) }
            let after = try await service.group(by: maria)
            let id = try await service.add(phone(1), to: after, by: maria).memberID
            let consent = try await service.group(.consent, by: maria).groupID
            let invitation = try await service.add(phone(1), to: consent, by: maria).memberID
            #expect(try await service.groups(of: jose).groups.map(\.groupID) == [before])
            #expect(
                await outcome { try await service.accept(invitation, in: consent, by: jose) } == "INVITATION_NOT_FOUND"
            )
            for _ in 0..<2 { try await service.unblock(maria, by: jose) }
            #expect(try await service.groups(of: jose).groups.map(\.groupID) == [after, before])
            #expect(try await service.memberID(of: jose, in: after, askedBy: jose) == id)
            #expect(try await service.invitationIDs(of: jose) == [invitation])
        }
    }

    @Test func `Blocked inviters are listed, and are at most a thousand`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let inviters = (0..<3).map { _ in someone() }.sorted()
            for inviter in inviters { try await service.block(inviter, by: jose) }
            var (found, token): ([String], String) = ([], "")
            repeat {
                let page = try await service.blocked(by: jose, size: 2, token: token)
                found += page.inviters.map(\.userID)
                #expect(page.inviters.allSatisfy { $0.blockedAt.milliseconds > 1_700_000_000_000 })
                token = page.nextPageToken
            } while !token.isEmpty
            #expect(found == inviters.map(\.description))
            #expect(try await service.blocked(by: maria).inviters.isEmpty)
            try await service.database.execute(
                """
                INSERT INTO blocked_inviters (user_id, inviter_user_id, blocked_at)
                SELECT \(jose.uuid), gen_random_uuid(), now() FROM generate_series(1, 996)
                """
            )
            let outcomes = await withTaskGroup(of: String.self) { tasks in
                for _ in 0..<10 { tasks.addTask { await outcome { try await service.block(someone(), by: jose) } } }
                return await tasks.reduce(into: [:] as [String: Int]) { $0[$1, default: 0] += 1 }
            }
            #expect(outcomes == ["done": 1, "TOO_MANY_BLOCKED": 9])
            try await service.block(inviters[0], by: jose)
            #expect(await outcome { try await service.block(jose, by: jose) } == "CANNOT_BLOCK_SELF")
            #expect(
                await outcome {
                    try await service.client.blockInviter(
                        .with { $0.inviterUserID = "x" },
                        options: service.options(for: jose)
                    )
                } == "USER_ID_INVALID"
            )
        }
    }

    @Test func `Blocking again tells nobody, and only so many blocks end within a day`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let group = try await service.group(.consent, by: maria).groupID
            try await service.add(phone(1), to: group, by: maria)
            let told = "SELECT count(*) FROM group_events WHERE user_id = '\(jose)'"
            let before = try await service.count(told)
            for _ in 0..<3 { try await service.block(maria, by: jose) }
            #expect(try await service.count(told) == before + 1)
            for _ in 0..<3 { try await service.unblock(maria, by: jose) }
            #expect(try await service.count(told) == before + 2)
            try await service.block(maria, by: jose)
            #expect(try await service.count("SELECT sum(count) FROM quotas WHERE kind = 'unblocks'") == 1)
            try await service.database.execute("UPDATE quotas SET count = 1000 WHERE kind = 'unblocks'")
            #expect(await outcome { try await service.unblock(maria, by: jose) } == "TOO_MANY_ATTEMPTS")
            #expect(try await service.count(told) == before + 3)
            // Whom they don't block they need not unblock, and blocking stays possible.
            try await service.unblock(someone(), by: jose)
            try await service.block(someone(), by: jose)
            service.clock.advance(milliseconds: 86_400_000)
            try await service.unblock(maria, by: jose)
            #expect(try await service.blocked(by: jose).inviters.count == 1)
        }
    }

    @Test func `A user who declined isn't admitted when the group opens, nor when they end a block`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let group = try await service.group(.consent, by: maria).groupID
            let id = try await service.add(phone(1), to: group, by: maria).memberID
            try await service.decline(id, in: group, by: jose)
            _ = try await service.update(group, by: maria, openness: .open)
            try await service.block(maria, by: jose)
            try await service.unblock(maria, by: jose)
            #expect(try await service.groups(of: jose).groups.isEmpty)
        }
    }
}
