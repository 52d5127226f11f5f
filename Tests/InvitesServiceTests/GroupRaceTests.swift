import API
import Models
import RPC
import ServiceKit
import Testing

@testable import InvitesService

/// Random histories of concurrent changes to a few groups, each from a seed, and the invariants that must hold afterwards.
@Suite(.serialized) struct GroupRaceTests {
    /// The actions in a history; people have numbers.
    private struct World: Sendable {
        let service: InvitesFixture
        let people: [UserID]
        let groups: [String]
        /// The first phone number: person n has number `first + n`, if any.
        let first: Int
    }

    /// One step of a history, by some user in some group. A refusal is fine: another call was first.
    private func step(_ world: World, _ generator: inout SeededGenerator) async throws {
        let service = world.service
        let index = Int.random(in: 0..<world.people.count, using: &generator)
        let user = world.people[index]
        let group = world.groups[Int.random(in: 0..<world.groups.count, using: &generator)]
        let number = world.first + Int.random(in: 0..<world.people.count, using: &generator)
        let choice = Int.random(in: 0..<100, using: &generator)
        let pick = UInt64.random(in: 0...UInt64.max, using: &generator)
        do {
            switch choice {
            case 0..<22: try await service.add(phone(number), to: group, by: user)
            case 22..<34:
                _ = try await service.add((0..<4).map { phone(number + $0) }, to: group, by: user)
            case 34..<46: try await service.apply(claimed(world.first + index, by: user))
            case 46..<49: try await service.apply(released(world.first + index, by: user))
            case 49..<58: try await service.leave(group, user)
            case 58..<59: try await service.delete(group, by: user)
            case 59..<61: try await service.close(user)
            case 61..<64: _ = try await service.hold(user, EventID.of(pick))
            case 64..<66:
                let openness: [AppV1.GroupOpenness] = [.open, .open, .confirm, .consent]
                _ = try await service.update(group, by: user, openness: openness[Int(pick % 4)])
            default:
                // Actions that need a member as their target.
                let members = try await service.members(of: group, askedBy: user, size: 100).members
                let member = members[Int(pick % UInt64(members.count))].memberID
                switch choice {
                case 66..<78: try await service.remove(member, from: group, by: user)
                case 78..<90: try await service.handOver(group, to: member, by: user)
                default:
                    let role: AppV1.GroupRole = pick.isMultiple(of: 3) ? .member : .admin
                    try await service.setRole(role, of: member, in: group, by: user)
                }
            }
        } catch let error as RPCError {
            let expected: Set<String> = [
                "NOT_A_MEMBER", "ROLE_INSUFFICIENT", "MEMBER_NOT_FOUND", "OWNER_MUST_HAND_OVER", "ACCOUNT_HELD",
                "GROUP_FULL", "MEMBER_NOT_CONFIRMED", "MEMBER_UNCONFIRMED",
            ]
            #expect(expected.contains(error.reason ?? ""), "\(error)")
        }
    }

    @Test(arguments: 1...12)
    func `After concurrent changes each group has an owner who is a member, and nobody is in it twice`(
        seed: UInt64
    ) async throws {
        try await InvitesFixture.run(groupMembersMax: 12) { service in
            let people = (0..<8).map { _ in someone() }
            var groups: [String] = []
            for person in people.prefix(3) { groups.append(try await service.group(by: person)) }
            let world = World(service: service, people: people, groups: groups, first: 100)
            // Most are members at first, and some admins.
            for (index, person) in people.enumerated() { try await service.apply(claimed(100 + index, by: person)) }
            for (index, group) in groups.enumerated() {
                for number in 100..<106 where number != 100 + index {
                    try await service.add(phone(number), to: group, by: people[index])
                }
            }
            try await withThrowingTaskGroup { tasks in
                for worker in 0..<8 {
                    tasks.addTask {
                        var generator = SeededGenerator(state: seed &* 1_000 &+ UInt64(worker))
                        for _ in 0..<25 { try await step(world, &generator) }
                    }
                }
                try await tasks.waitForAll()
            }
            // Changes concurrent to a closing are deleted by the cleanup.
            service.clock.advance(milliseconds: 60_000)
            await service.parts.cleanup.clean()
            try await check(service, seed)
        }
    }

    /// The closest race: the new owner leaves at the same moment.
    @Test func `A group that is handed over to a member who leaves keeps an owner`() async throws {
        try await InvitesFixture.run { service in
            let (owner, admin) = (someone(), someone())
            for round in 0..<60 {
                let heir = someone()
                let group = try await service.group(by: owner)
                try await service.join([admin, heir], to: group, by: owner, first: 10 * round)
                let adminID = try await service.memberID(of: admin, in: group, askedBy: owner)
                let heirID = try await service.memberID(of: heir, in: group, askedBy: owner)
                for id in [adminID, heirID] { try await service.setRole(.admin, of: id, in: group, by: owner) }
                async let handed = outcome { try await service.handOver(group, to: heirID, by: owner) }
                async let gone = outcome {
                    switch round % 3 {
                    case 0: try await service.leave(group, heir)
                    case 1: try await service.remove(heirID, from: group, by: owner)
                    default: try await service.close(heir)
                    }
                }
                _ = await (handed, gone)
            }
            try await check(service, 0)
        }
    }

    private func check(_ service: InvitesFixture, _ seed: UInt64) async throws {
        let faults: [(String, String)] = [
            (
                "a group without an owner who is in it",
                """
                SELECT count(*) FROM groups g WHERE NOT EXISTS (
                    SELECT FROM members m WHERE m.group_id = g.group_id AND m.user_id = g.owner_user_id)
                """
            ),
            (
                "somebody is there twice",
                """
                SELECT count(*) FROM (
                    SELECT FROM members WHERE user_id IS NOT NULL GROUP BY group_id, user_id HAVING count(*) > 1
                    UNION ALL
                    SELECT FROM members WHERE user_id IS NULL GROUP BY group_id, phone HAVING count(*) > 1
                ) AS doubled
                """
            ),
            (
                "somebody waits in an open group for a number that a user has",
                """
                SELECT count(*) FROM members m JOIN groups g USING (group_id) JOIN phones p ON p.phone = m.phone
                WHERE m.user_id IS NULL AND p.user_id IS NOT NULL AND g.openness = 'open'
                    AND p.user_id NOT IN (SELECT user_id FROM closed_accounts)
                """
            ),
            ("a member of a closed account", "SELECT count(*) FROM members JOIN closed_accounts USING (user_id)"),
            ("a member who is held", "SELECT count(*) FROM members JOIN held_accounts USING (user_id)"),
            (
                "an owner who is held",
                "SELECT count(*) FROM groups g JOIN held_accounts h ON h.user_id = g.owner_user_id"
            ),
            (
                "a group too full",
                "SELECT count(*) FROM (SELECT FROM members GROUP BY group_id HAVING count(*) > 12) AS crowd"
            ),
        ]
        for (fault, sql) in faults {
            #expect(try await service.count(sql) == 0, "seed \(seed): \(fault)")
        }
    }
}
