import API
import Models
import Postgres
import RPC
import ServiceModels
import SwiftProtobuf
import Testing

@testable import InvitesService

/// Random histories of all that makes members, from many connections at once: each person is in a group once, nobody is lost,
/// doubled or sits on another's place. A history that fails tells its seed.
@Suite(.serialized) struct InvitationRaceTests {
    /// What may be answered without anything being wrong.
    private static let expected: Set<String> = [
        "done", "INVITATION_NOT_FOUND", "CONFIRMATION_NEEDED", "PERSON_CHANGED", "NOTHING_TO_CONFIRM",
        "MEMBER_NOT_FOUND",
        "LINK_USED",
    ]

    /// Two people who hand two numbers to each other. Only their own worker moves the numbers, as only profile does.
    private struct Pair {
        let users: [UserID]
        let numbers: [Int]
        var owners: [UserID?] = [nil, nil]

        init(_ first: Int) {
            users = [someone(), someone()]
            numbers = [first, first + 1]
        }
    }

    /// What one history is about.
    private struct Scene: Sendable {
        let seed: Int
        let owner: UserID
        let helper: UserID
        /// An open group, one of confirmation, one of consent, and one that changes.
        let groups: [String]
        let tokens: [String]
        let firstNumber: Int
        let workers = 4
    }

    /// Who certainly is a member of which group, since a call said so and nobody leaves.
    private actor Members {
        private(set) var known: Set<String> = []
        private(set) var added: Set<String> = []
        private(set) var outcomes: [String: Int] = [:]
        /// Who may have each number.
        private(set) var people: [Int: [UserID]] = [:]
        func note(_ users: [UserID], of numbers: [Int]) { for number in numbers { people[number] = users } }
        func note(_ outcome: String) { outcomes[outcome, default: 0] += 1 }
        func note(member: UserID, of group: String) { known.insert("\(group) \(member)") }
        func note(added number: Int, to group: String) { added.insert("\(group) \(number)") }
    }

    private func scene(_ seed: Int, _ service: InvitesFixture) async throws -> Scene {
        let (owner, helper) = (someone(), someone())
        let first = seed * 20
        try await service.apply(claimed(first + 19, by: helper))
        var (groups, tokens): ([String], [String]) = ([], [])
        for openness in [AppV1.GroupOpenness.open, .confirm, .consent, .open] {
            let group = try await service.group(.open, by: owner).groupID
            try await service.add(phone(first + 19), to: group, by: owner)
            _ = try await service.update(group, by: owner, openness: openness)
            groups.append(group)
            tokens.append(try await service.link(to: group, by: owner).token)
        }
        return Scene(
            seed: seed,
            owner: owner,
            helper: helper,
            groups: groups,
            tokens: tokens,
            firstNumber: first
        )
    }

    /// One step of a worker; what it comes to.
    private func step(
        _ service: InvitesFixture,
        _ scene: Scene,
        _ pair: inout Pair,
        _ members: Members,
        _ random: inout SeededGenerator
    ) async throws -> String {
        let place = Int.random(in: 0..<scene.groups.count, using: &random)
        let group = scene.groups[place]
        let user = pair.users.randomElement(using: &random)!
        let adder = Bool.random(using: &random) ? scene.owner : scene.helper
        switch Int.random(in: 0..<11, using: &random) {
        case 0, 1, 2:
            let number = scene.firstNumber + Int.random(in: 0..<2 * scene.workers, using: &random)
            return await outcome {
                try await service.add(phone(number), to: group, by: adder)
                await members.note(added: number, to: group)
            }
        case 3, 4:
            let index = Int.random(in: 0..<2, using: &random)
            var events: [InvitesV1.PhoneEvent] = []
            if let owner = pair.owners[index] { events.append(released(pair.numbers[index], by: owner)) }
            // Sometimes it is free for a while.
            pair.owners[index] = Int.random(in: 0..<4, using: &random) == 0 ? nil : user
            if let owner = pair.owners[index] { events.append(claimed(pair.numbers[index], by: owner)) }
            let sent = events
            return await outcome { try await service.apply(sent) }
        case 5, 6:
            guard let invitation = try await service.invitations(of: user).invitations.randomElement(using: &random)
            else {
                return "done"
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                return await outcome {
                    try await service.decline(invitation.memberID, in: invitation.groupID, by: user)
                }
            }
            return await outcome {
                let member = try await service.accept(invitation.memberID, in: invitation.groupID, by: user)
                #expect(member.userID == user.description, "seed \(scene.seed)")
                await members.note(member: user, of: invitation.groupID)
            }
        case 7, 8:
            let waiting = try await service.pending(of: group, askedBy: scene.owner).people.filter(\.mayConfirm)
            guard let person = waiting.randomElement(using: &random), let shown = UserID(person.userID) else {
                return "done"
            }
            return await outcome {
                let member = try await service.confirm(person.memberID, as: shown, in: group, by: scene.owner)
                #expect(member.userID == shown.description, "seed \(scene.seed)")
                await members.note(member: shown, of: group)
            }
        case 9:
            guard Bool.random(using: &random) else {
                let isBlock = Bool.random(using: &random)
                return await outcome {
                    try await isBlock ? service.block(adder, by: user) : service.unblock(adder, by: user)
                }
            }
            let openness = [AppV1.GroupOpenness.open, .confirm, .consent].randomElement(using: &random)!
            return await outcome { try await service.update(scene.groups[3], by: scene.owner, openness: openness) }
        default:
            return await outcome {
                let joined = try await service.join(by: scene.tokens[place], user)
                if joined.state == .member { await members.note(member: user, of: group) }
            }
        }
    }

    @Test func `In concurrent histories each person is in a group once and nobody is lost`() async throws {
        try await InvitesFixture.run { service in
            let members = Members()
            for seed in 0..<40 {
                let scene = try await scene(seed, service)
                try await withThrowingTaskGroup { tasks in
                    for worker in 0..<scene.workers {
                        tasks.addTask {
                            var random = SeededGenerator(state: UInt64(seed * 100 + worker))
                            var pair = Pair(scene.firstNumber + 2 * worker)
                            await members.note(pair.users, of: pair.numbers)
                            for _ in 0..<20 {
                                let answer = try await step(service, scene, &pair, members, &random)
                                await members.note(answer)
                                #expect(Self.expected.contains(answer), "seed \(seed)")
                            }
                        }
                    }
                    try await tasks.waitForAll()
                }
                try await check(service, scene, members)
            }
            // The histories are worth something only if all of it happens.
            let outcomes = await members.outcomes
            for reason in ["done", "CONFIRMATION_NEEDED"] { #expect(outcomes[reason, default: 0] > 0, "\(outcomes)") }
            for column in ["declined_by", "confirmed_by", "unconfirmed_at IS NULL AND linked_at"] {
                #expect(try await service.count("SELECT count(*) FROM members WHERE \(column) IS NOT NULL") > 0)
            }
        }
    }

    /// What must hold when all is quiet.
    private func check(_ service: InvitesFixture, _ scene: Scene, _ members: Members) async throws {
        let groups = scene.groups.map { "'\($0)'" }.joined(separator: ", ")
        let facts: [(String, String)] = [
            (
                "somebody is in a group twice",
                "SELECT count(*) FROM (SELECT FROM members WHERE user_id IS NOT NULL GROUP BY group_id, user_id HAVING count(*) > 1) AS d"
            ),
            (
                "a number is awaited twice by a group",
                "SELECT count(*) FROM (SELECT FROM members WHERE user_id IS NULL GROUP BY group_id, phone HAVING count(*) > 1) AS d"
            ),
            (
                "somebody waits in an open group for a number that a user has",
                """
                SELECT count(*) FROM members m JOIN phones p ON p.phone = m.phone JOIN groups g ON g.group_id = m.group_id
                WHERE m.user_id IS NULL AND p.user_id IS NOT NULL AND g.openness = 'open'
                    AND m.declined_by IS DISTINCT FROM p.user_id
                    AND NOT EXISTS (SELECT FROM blocked_inviters b WHERE b.user_id = p.user_id AND b.inviter_user_id = m.added_by)
                """
            ),
            (
                "a member asks to join",
                "SELECT count(*) FROM join_requests r JOIN members m ON m.group_id = r.group_id AND m.user_id = r.user_id"
            ),
            (
                "somebody asks to join where nobody is confirmed",
                "SELECT count(*) FROM join_requests r JOIN groups g ON g.group_id = r.group_id WHERE g.openness <> 'confirm'"
            ),
            (
                "uses were miscounted",
                """
                SELECT count(*) FROM group_links l
                WHERE l.uses + 1 /* its maker's, which is none */ <> (SELECT count(*) FROM group_link_uses u WHERE u.link_id = l.link_id)
                """
            ),
            (
                "a group has lost its owner",
                """
                SELECT count(*) FROM groups g WHERE NOT EXISTS (
                    SELECT FROM members m WHERE m.group_id = g.group_id AND m.user_id = g.owner_user_id)
                """
            ),
        ]
        for (fault, sql) in facts { #expect(try await service.count(sql) == 0, "seed \(scene.seed): \(fault)") }
        let rows = try await service.database.query(
            Query(
                unsafeSQL: """
                    SELECT group_id::text, COALESCE(user_id::text, ''), COALESCE(phone, '') FROM members
                    WHERE group_id IN (\(groups))
                    """
            )
        )
        let found = try rows.map { try $0.decode(String.self, String.self, String.self) }
        let seated = Set(found.map { "\($0.0) \($0.1)" })
        for member in await members.known where scene.groups.contains(String(member.prefix(36))) {
            #expect(seated.contains(member), "seed \(scene.seed): a member is lost")
        }
        let people = await members.people
        let phones = Set(found.map { "\($0.0) \($0.2)" })
        for addition in await members.added where scene.groups.contains(String(addition.prefix(36))) {
            let (group, number) = (String(addition.prefix(36)), Int(addition.dropFirst(37)) ?? 0)
            let isThere = phones.contains("\(group) \(e164(number).dropFirst())")
            // A row goes only where a person who had the number is a member by something else.
            let isMerged = people[number, default: []].contains { seated.contains("\(group) \($0)") }
            #expect(isThere || isMerged, "seed \(scene.seed): a number is lost")
        }
        for (_, user, phone) in found where !user.isEmpty && !phone.isEmpty {
            guard let number = Int(phone.suffix(7)).map({ $0 - 1_000_000 }), let people = people[number] else {
                continue
            }
            #expect(people.contains { "\($0)" == user }, "seed \(scene.seed): somebody sits on another's place")
        }
    }
}
