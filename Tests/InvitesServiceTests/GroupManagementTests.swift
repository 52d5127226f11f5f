import API
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import SwiftProtobuf
import Testing

@testable import InvitesService

/// Who may change what in a group, and what is left afterwards.
@Suite(.serialized) struct GroupManagementTests {
    /// A group with an owner, an admin, a plain member, and a pending person with number 9.
    private struct Party {
        let group: String
        let owner: UserID
        let admin: UserID
        let member: UserID
        /// The memberships of the three, and of the pending person.
        let ids: [String]

        init(_ service: InvitesFixture) async throws {
            (owner, admin, member) = (someone(), someone(), someone())
            group = try await service.group(by: owner)
            try await service.join([admin, member], to: group, by: owner)
            let pending = try await service.add(phone(9), to: group, by: owner)
            var ids: [String] = []
            for user in [owner, admin, member] {
                ids.append(try await service.memberID(of: user, in: group, askedBy: owner))
            }
            self.ids = ids + [pending.memberID]
            try await service.setRole(.admin, of: ids[1], in: group, by: owner)
        }
    }

    @Test func `Groups and members have roles`() async throws {
        try await InvitesFixture.run { service in
            let party = try await Party(service)
            let roles: [(UserID, AppV1.GroupRole)] = [
                (party.owner, .owner), (party.admin, .admin), (party.member, .member),
            ]
            for (user, role) in roles {
                #expect(try await service.group(party.group, askedBy: user).role == role)
                #expect(try await service.groups(of: user).groups.map(\.role) == [role])
                let members = try await service.members(of: party.group, askedBy: user).members
                #expect(members.map(\.role) == [.owner, .admin, .member, .unspecified])
                #expect(members.map(\.isUnconfirmed) == [false, false, false, false])
            }
            #expect(await outcome { try await service.group(party.group, askedBy: someone()) } == "NOT_A_MEMBER")
        }
    }

    @Test func `The owner changes name and openness, an admin the name, a plain member nothing`() async throws {
        try await InvitesFixture.run { service in
            let party = try await Party(service)
            let (group, owner) = (party.group, party.owner)
            let renamed = try await service.update(group, by: party.admin, name: " Climbers ")
            #expect(renamed.name == "Climbers" && renamed.openness == .open && renamed.role == .admin)
            let refused = await [
                outcome { try await service.update(group, by: party.admin, name: "X", openness: .consent) },
                outcome { try await service.update(group, by: party.member, name: "Y") },
                outcome { try await service.update(group, by: someone(), name: "Z") },
                outcome { try await service.update(group, by: owner, name: "") },
                outcome { try await service.update(group, by: owner, openness: .UNRECOGNIZED(9)) },
            ]
            #expect(
                refused == [
                    "ROLE_INSUFFICIENT", "ROLE_INSUFFICIENT", "NOT_A_MEMBER", "GROUP_NAME_INVALID", "OPENNESS_INVALID",
                ]
            )
            #expect(try await service.group(group, askedBy: owner).name == "Climbers", "all or nothing")
            let closed = try await service.update(group, by: owner, openness: .consent)
            #expect(closed.name == "Climbers" && closed.openness == .consent)
            #expect(try await service.update(group, by: owner) == closed)
        }
    }

    @Test func `Authorized members remove members, and removing a missing one succeeds`() async throws {
        try await InvitesFixture.run { service in
            let party = try await Party(service)
            let (group, ids) = (party.group, party.ids)
            let refused = await [
                outcome { try await service.remove(ids[0], from: group, by: party.admin) },
                outcome { try await service.remove(ids[1], from: group, by: party.admin) },
                outcome { try await service.remove(ids[1], from: group, by: party.member) },
                outcome { try await service.remove(ids[3], from: group, by: party.member) },
                outcome { try await service.remove(ids[0], from: group, by: party.owner) },
                outcome { try await service.remove(ids[2], from: group, by: someone()) },
                outcome { try await service.remove("x", from: group, by: party.owner) },
            ]
            #expect(refused == Array(repeating: "ROLE_INSUFFICIENT", count: 5) + ["NOT_A_MEMBER", "MEMBER_NOT_FOUND"])
            // A plain member can remove a person whom they added.
            let theirs = try await service.add(phone(10), to: group, by: party.member)
            for _ in 0..<2 { try await service.remove(theirs.memberID, from: group, by: party.member) }
            #expect(try await service.count("SELECT count(*) FROM phones WHERE phone = '\(e164(10).dropFirst())'") == 0)
            for id in [ids[2], ids[3]] { try await service.remove(id, from: group, by: party.admin) }
            try await service.remove(ids[1], from: group, by: party.owner)
            #expect(try await service.members(of: group, askedBy: party.owner).members.map(\.memberID) == [ids[0]])
            // A removed user sees nothing of the group any more.
            #expect(try await service.groups(of: party.member).groups.isEmpty)
            #expect(await outcome { try await service.add(phone(11), to: group, by: party.admin) } == "NOT_A_MEMBER")
        }
    }

    @Test func `A number that was removed isn't linked, and can be added again`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(by: maria)
            let pending = try await service.add(phone(1), to: group, by: maria)
            try await service.remove(pending.memberID, from: group, by: maria)
            #expect(try await service.apply(claimed(1, by: jose)) == 0)
            let member = try await service.add(phone(1), to: group, by: maria)
            #expect(member.userID == jose.description && member.memberID != pending.memberID)
        }
    }

    @Test func `The group keeps no data of a user who left or was removed`() async throws {
        try await InvitesFixture.run { service in
            let party = try await Party(service)
            try await service.add(phone(12), to: party.group, by: party.member)
            try await service.add(phone(13), to: party.group, by: party.admin)
            try await service.database.execute(
                "UPDATE members SET confirmed_by = \(party.member.uuid) WHERE user_id IS NULL"
            )
            try await service.leave(party.group, party.member)
            try await service.leave(party.group, party.member)
            try await service.remove(party.ids[1], from: party.group, by: party.owner)
            for user in [party.member, party.admin] {
                let traces = "'\(user)' IN (user_id::text, added_by::text, confirmed_by::text, declined_by::text)"
                #expect(try await service.count("SELECT count(*) FROM members WHERE \(traces)") == 0)
            }
            #expect(try await service.members(of: party.group, askedBy: party.owner).members.count == 4)
        }
    }

    @Test func `The owner hands over before leaving, and stays as an admin until then`() async throws {
        try await InvitesFixture.run { service in
            let party = try await Party(service)
            let (group, owner, ids) = (party.group, party.owner, party.ids)
            #expect(await outcome { try await service.leave(group, owner) } == "OWNER_MUST_HAND_OVER")
            let refused = await [
                outcome { try await service.handOver(group, to: ids[2], by: party.admin) },
                outcome { try await service.handOver(group, to: ids[3], by: owner) },
                outcome { try await service.handOver(group, to: "x", by: owner) },
                outcome { try await service.handOver(group, to: ids[2], by: someone()) },
            ]
            #expect(refused == ["ROLE_INSUFFICIENT", "MEMBER_NOT_FOUND", "MEMBER_NOT_FOUND", "NOT_A_MEMBER"])
            // Nobody becomes an owner merely by a number.
            #expect(
                await outcome { try await service.handOver(group, to: ids[2], by: owner) } == "MEMBER_NOT_CONFIRMED"
            )
            try await service.doubt(ids[1])
            #expect(
                await outcome { try await service.handOver(group, to: ids[1], by: owner) } == "MEMBER_NOT_CONFIRMED"
            )
            try await service.confirm(ids[2], as: party.member, in: group, by: owner)
            // Twice, as after a lost answer.
            for _ in 0..<2 {
                let handed = try await service.handOver(group, to: ids[2], by: owner)
                #expect(handed.ownerUserID == party.member.description && handed.role == .admin)
            }
            let members = try await service.members(of: group, askedBy: owner).members
            #expect(members.map(\.role) == [.admin, .admin, .owner, .unspecified, .unspecified])
            #expect(await outcome { try await service.delete(group, by: owner) } == "ROLE_INSUFFICIENT")
            try await service.leave(group, owner)
            // An owner who got the group by a handover leaves it to the user who would inherit it if the account were closed.
            try await service.leave(group, party.member)
            #expect(try await service.group(group, askedBy: party.admin).role == .owner)
            let alone = try await service.members(of: group, askedBy: party.admin).members
            #expect(alone.map(\.role) == [.owner, .unspecified, .unspecified])
        }
    }

    @Test func `A group counts for its creator, also after a handover`() async throws {
        var limits = InvitesFixture.unlimited
        limits.groupsMax = 1
        try await InvitesFixture.run(limits: limits) { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(by: maria)
            try await service.join([jose], to: group, by: maria)
            let id = try await service.memberID(of: jose, in: group, askedBy: maria)
            try await service.setRole(.admin, of: id, in: group, by: maria)
            try await service.handOver(group, to: id, by: maria)
            #expect(await outcome { try await service.group(by: maria) } == "TOO_MANY_GROUPS")
            let own = try await service.group(by: jose)
            #expect(try await service.groups(of: jose).groups.map(\.groupID) == [own, group])
            #expect(await outcome { try await service.group(by: jose) } == "TOO_MANY_GROUPS")
            #expect(await outcome { try await service.leave(own, jose) } == "done", "alone in it")
            #expect(await outcome { try await service.group(by: jose) } == "done")
            let back = try await service.memberID(of: maria, in: group, askedBy: jose)
            try await service.handOver(group, to: back, by: jose)
            #expect(await outcome { try await service.group(by: maria) } == "TOO_MANY_GROUPS")
            try await service.handOver(group, to: id, by: maria)
            try await service.close(maria)
            #expect(try await service.count("SELECT count(*) FROM groups WHERE created_by = '\(maria)'") == 0)
            #expect(try await service.count("SELECT count(*) FROM groups") == 2)
        }
    }

    @Test func `Changes of name and openness are counted if they change something`() async throws {
        var limits = InvitesFixture.unlimited
        limits.userGroupChanges = .daily(limits.userGroupChanges.kind, countMax: 2)
        try await InvitesFixture.run(limits: limits) { service in
            let maria = someone()
            let (group, other) = (try await service.group(by: maria), try await service.group(by: maria))
            _ = try await service.update(group, by: maria, name: "A")
            for _ in 0..<3 { _ = try await service.update(group, by: maria, name: "A", openness: .open) }
            _ = try await service.update(other, by: maria, openness: .consent)
            let error = try await failure { try await service.update(group, by: maria, name: "B") }
            #expect(error.code == .resourceExhausted && error.reason == "TOO_MANY_ATTEMPTS")
            #expect(try await service.group(group, askedBy: maria).name == "A")
            service.clock.advance(milliseconds: 86_400_000)
            #expect(try await service.update(group, by: maria, name: "B").name == "B")
        }
    }

    @Test func `Changes of roles and owners are counted with those of name and openness`() async throws {
        var limits = InvitesFixture.unlimited
        limits.userGroupChanges = .daily(limits.userGroupChanges.kind, countMax: 3)
        try await InvitesFixture.run(limits: limits) { service in
            let party = try await Party(service)  // one change
            let (group, ids, owner) = (party.group, party.ids, party.owner)
            try await service.setRole(.admin, of: ids[2], in: group, by: owner)
            _ = try await service.update(group, by: owner, name: "Climbers")
            let told = "SELECT count(*) FROM group_events"
            let before = try await service.count(told)
            #expect(try await service.setRole(.admin, of: ids[2], in: group, by: owner).role == .admin)
            #expect(
                await outcome { try await service.setRole(.member, of: ids[2], in: group, by: owner) }
                    == "TOO_MANY_ATTEMPTS"
            )
            #expect(await outcome { try await service.handOver(group, to: ids[1], by: owner) } == "TOO_MANY_ATTEMPTS")
            #expect(try await service.handOver(group, to: ids[0], by: owner).role == .owner)
            #expect(
                try await service.members(of: group, askedBy: owner).members.map(\.role) == [
                    .owner, .admin, .admin, .unspecified,
                ]
            )
            #expect(try await service.count(told) == before)
            service.clock.advance(milliseconds: 86_400_000)
            #expect(try await service.handOver(group, to: ids[1], by: owner).role == .admin)
        }
    }

    @Test func `Only the owner sets roles`() async throws {
        try await InvitesFixture.run { service in
            let party = try await Party(service)
            let (group, ids) = (party.group, party.ids)
            let refused = await [
                outcome { try await service.setRole(.member, of: ids[1], in: group, by: party.admin) },
                outcome { try await service.setRole(.admin, of: ids[2], in: group, by: party.member) },
                outcome { try await service.setRole(.member, of: ids[0], in: group, by: party.owner) },
                outcome { try await service.setRole(.owner, of: ids[1], in: group, by: party.owner) },
                outcome { try await service.setRole(.unspecified, of: ids[1], in: group, by: party.owner) },
                outcome { try await service.setRole(.admin, of: ids[3], in: group, by: party.owner) },
            ]
            #expect(
                refused == [
                    "ROLE_INSUFFICIENT", "ROLE_INSUFFICIENT", "ROLE_INSUFFICIENT", "ROLE_INVALID", "ROLE_INVALID",
                    "MEMBER_NOT_FOUND",
                ]
            )
            #expect(try await service.setRole(.member, of: ids[1], in: group, by: party.owner).role == .member)
            #expect(try await service.group(group, askedBy: party.owner).role == .owner)
        }
    }

    @Test func `A group is deleted by its owner, or by the last member who leaves it`() async throws {
        try await InvitesFixture.run { service in
            let party = try await Party(service)
            for user in [party.admin, party.member] {
                #expect(await outcome { try await service.delete(party.group, by: user) } == "ROLE_INSUFFICIENT")
            }
            #expect(await outcome { try await service.delete(party.group, by: someone()) } == "NOT_A_MEMBER")
            try await service.delete(party.group, by: party.owner)
            #expect(await outcome { try await service.delete(party.group, by: party.owner) } == "NOT_A_MEMBER")
            #expect(try await service.groups(of: party.member).groups.isEmpty)

            let alone = try await service.group(by: party.owner)
            try await service.add(phone(20), to: alone, by: party.owner)
            for _ in 0..<2 { try await service.leave(alone, party.owner) }
            let left = """
                SELECT (SELECT count(*) FROM groups) + (SELECT count(*) FROM members)
                    + (SELECT count(*) FROM phones WHERE user_id IS NULL)
                """
            #expect(try await service.count(left) == 0, "and no number without an owner")
            #expect(try await service.apply(claimed(20, by: someone())) == 0)
        }
    }

    @Test func `An admin inherits before a plain member who joined earlier`() async throws {
        try await InvitesFixture.run { service in
            let (owner, first, second) = (someone(), someone(), someone())
            let group = try await service.group(by: owner)
            try await service.join([first, second], to: group, by: owner)
            let id = try await service.memberID(of: second, in: group, askedBy: owner)
            try await service.setRole(.admin, of: id, in: group, by: owner)
            try await service.close(owner)
            #expect(try await service.group(group, askedBy: first).ownerUserID == second.description)
            try await service.close(second)
            #expect(try await service.group(group, askedBy: first).role == .owner)
        }
    }

    @Test func `A key whose group was deleted creates no other, and reveals nothing of it`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let key = GroupID(high: 5, low: 5).description
            let request = AppV1.CreateGroupRequest.with { ($0.name, $0.idempotencyKey) = ("Hikers", key) }
            let options = service.options(for: maria)
            let group = try await service.client.createGroup(request, options: options).group
            #expect(group.role == .owner)
            let other = AppV1.CreateGroupRequest.with {
                ($0.name, $0.idempotencyKey, $0.openness) = ("Hikers", key, .open)
            }
            let reused = await outcome { try await service.client.createGroup(other, options: options) }
            #expect(reused == "IDEMPOTENCY_KEY_REUSED")
            try await service.join([jose], to: group.groupID, by: maria)
            let id = try await service.memberID(of: jose, in: group.groupID, askedBy: maria)
            try await service.setRole(.admin, of: id, in: group.groupID, by: maria)
            try await service.handOver(group.groupID, to: id, by: maria)
            #expect(try await service.client.createGroup(request, options: options).group.role == .admin)
            try await service.leave(group.groupID, maria)
            #expect(await outcome { try await service.client.createGroup(request, options: options) } == "NOT_A_MEMBER")
            try await service.delete(group.groupID, by: jose)
            #expect(await outcome { try await service.client.createGroup(request, options: options) } == "NOT_A_MEMBER")
        }
    }
}
