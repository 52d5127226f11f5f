import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels
import Testing

@testable import InvitesService

/// How many groups a user may be in, however they join, and how many may wait for one number.
@Suite(.timeLimit(.minutes(5)))
struct MembershipRoomTests {
    private static func run(max: Int, _ body: (InvitesFixture) async throws -> Void) async throws {
        var limits = InvitesFixture.unlimited
        limits.membershipsMax = max
        try await InvitesFixture.run(limits: limits, body)
    }

    /// The groups that a user is in.
    private static func groups(of user: UserID, _ service: InvitesFixture) async throws -> [String] {
        try await service.groups(of: user, size: 100).groups.map(\.groupID)
    }

    @Test func `A user at the limit can't create, join, accept or be confirmed`() async throws {
        try await Self.run(max: 3) { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let open = try await service.group(by: maria)
            let consent = try await service.group(.consent, by: maria).groupID
            let confirm = try await service.group(.confirm, by: maria).groupID
            let invited = try await service.add(phone(1), to: consent, by: maria).memberID
            let awaited = try await service.add(phone(1), to: confirm, by: maria).memberID
            // Twice as many as others may add him to.
            for _ in 0..<6 { _ = try await service.group(by: jose) }
            let full = "MEMBER_GROUPS_FULL"
            #expect(await outcome { try await service.group(by: jose) } == full)
            let token = try await service.link(to: open, by: maria).token
            #expect(await outcome { try await service.join(by: token, jose) } == full)
            #expect(await outcome { try await service.accept(invited, in: consent, by: jose) } == full)
            #expect(await outcome { try await service.confirm(awaited, as: jose, in: confirm, by: maria) } == full)
            #expect(await outcome { try await service.add(phone(1), to: open, by: maria) } == full)
            let batch = try await service.add([phone(1), phone(2)], to: open, by: maria)
            #expect(batch.map(\.refusal.reason) == [full, ""])
            let error = try await failure { try await service.group(by: jose) }
            #expect(error.code == .failedPrecondition)
            // Nothing was used up or lost by it: once there is room each way works again.
            let own = try await Self.groups(of: jose, service)
            try await service.leave(own[0], jose)
            #expect(try await service.join(by: token, jose).state == .member)
            try await service.leave(own[1], jose)
            try await service.accept(invited, in: consent, by: jose)
            for group in own[2...4] { try await service.leave(group, jose) }
            #expect(await outcome { try await service.confirm(awaited, as: jose, in: confirm, by: maria) } == full)
            try await service.leave(own[5], jose)
            try await service.confirm(awaited, as: jose, in: confirm, by: maria)
            #expect(try await Self.groups(of: jose, service).sorted() == [open, consent, confirm].sorted())
        }
    }

    @Test func `Others who add a user to many groups take no room for the user's own choice`() async throws {
        try await Self.run(max: 3) { service in
            let (maria, stranger, jose) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let token = try await service.link(to: service.group(by: maria), by: maria).token
            let consent = try await service.group(.consent, by: maria).groupID
            let invited = try await service.add(phone(1), to: consent, by: maria).memberID
            let confirm = try await service.group(.confirm, by: maria).groupID
            #expect(try await service.join(by: service.link(to: confirm, by: maria).token, jose).state == .pending)
            let full = "MEMBER_GROUPS_FULL"
            for isFull in [false, false, false, true] {
                let imposed = try await service.group(by: stranger)
                let added = await outcome { try await service.add(phone(1), to: imposed, by: stranger) }
                #expect(added == (isFull ? full : "done"))
            }
            // Others can't add him any more; he himself has room for as many groups again.
            let request = try #require(try await service.pending(of: confirm, askedBy: maria).people.first).memberID
            try await service.confirm(request, as: jose, in: confirm, by: maria)
            try await service.accept(invited, in: consent, by: jose)
            try await service.join(by: token, jose)
            #expect(await outcome { try await service.group(by: jose) } == full)
            #expect(try await Self.groups(of: jose, service).count == 6)
        }
    }

    @Test func `A claim takes as many places as there is room for, and the others when there is room again`()
        async throws
    {
        try await Self.run(max: 3) { service in
            let (maria, other, jose) = (someone(), someone(), someone())
            var groups: [String] = []
            // Two numbers of his in one group are one place.
            let numbers = [[1, 2], [1], [2], [1, 2]]
            for (index, inviter) in [maria, maria, other, other].enumerated() {
                groups.append(try await service.group(by: inviter))
                for number in numbers[index] { try await service.add(phone(number), to: groups[index], by: inviter) }
            }
            let own = try await service.group("Own", by: jose)
            #expect(try await service.apply(claimed(1, by: jose), claimed(2, by: jose)) == 2)
            #expect(try await Self.groups(of: jose, service) == [own, groups[1], groups[0]])
            let waiting = "SELECT count(*) FROM members WHERE user_id IS NULL"
            #expect(try await service.count(waiting) == 3)
            // There is no room yet.
            await service.parts.cleanup.clean()
            #expect(try await service.count(waiting) == 3)
            try await service.leave(groups[0], jose)
            await service.parts.cleanup.clean()
            #expect(try await Self.groups(of: jose, service) == [own, groups[2], groups[1]])
            #expect(try await service.count(waiting) == 2)
            try await service.delete(own, by: jose)
            await service.parts.cleanup.clean()
            #expect(try await Self.groups(of: jose, service) == [groups[3], groups[2], groups[1]])
            #expect(try await service.count(waiting) == 0)
        }
    }

    @Test func `Opening a group admits users who have room, and keeps the others waiting`() async throws {
        try await Self.run(max: 2) { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let group = try await service.group(.confirm, by: maria).groupID
            let token = try await service.link(to: group, by: maria).token
            try await service.add(phone(1), to: group, by: maria)
            try await service.apply(claimed(1, by: jose))
            #expect(try await service.join(by: token, ana).state == .pending)
            for user in [jose, jose, ana, ana, ana, ana] { _ = try await service.group(by: user) }
            _ = try await service.update(group, by: maria, openness: .open)
            #expect(
                try await service.members(of: group, askedBy: maria).members.filter { $0.state == .member }.count == 1
            )
            #expect(try await service.count("SELECT count(*) FROM join_requests") == 1)
            try await service.leave(try await Self.groups(of: jose, service)[0], jose)
            await service.parts.cleanup.clean()
            #expect(try await Self.groups(of: jose, service).contains(group))
        }
    }

    @Test func `The number of groups that wait for one number is limited, also over several inviters`() async throws {
        try await Self.run(max: 3) { service in
            var groups: [(id: String, owner: UserID)] = []
            for _ in 0..<4 {
                let owner = someone()
                groups.append((try await service.group(by: owner), owner))
            }
            for group in groups.prefix(3) { try await service.add(phone(1), to: group.id, by: group.owner) }
            let (last, owner) = groups[3]
            #expect(await outcome { try await service.add(phone(1), to: last, by: owner) } == "MEMBER_GROUPS_FULL")
            // A number that waits already is found, and other numbers can be added.
            try await service.add(phone(1), to: groups[0].id, by: groups[0].owner)
            try await service.add(phone(2), to: last, by: owner)
            let waiting = try #require(
                try await service.members(of: groups[0].id, askedBy: groups[0].owner).members.first {
                    $0.state == .pending
                }
            )
            try await service.remove(waiting.memberID, from: groups[0].id, by: groups[0].owner)
            try await service.add(phone(1), to: last, by: owner)
            #expect(try await service.apply(claimed(1, by: someone())) == 3)
        }
    }

    @Test func `Concurrent additions of one number exceed no limit`() async throws {
        try await Self.run(max: 5) { service in
            let jose = someone()
            try await service.apply(claimed(1, by: jose))
            var groups: [(id: String, owner: UserID)] = []
            for _ in 0..<20 {
                let owner = someone()
                groups.append((try await service.group(by: owner), owner))
            }
            let made = groups
            for number in [1, 2] {
                let found = await withTaskGroup(of: String.self) { tasks in
                    for group in made {
                        tasks.addTask {
                            await outcome { try await service.add(phone(number), to: group.id, by: group.owner) }
                        }
                    }
                    return await tasks.reduce(into: [:]) { counts, reason in counts[reason, default: 0] += 1 }
                }
                #expect(found == ["done": 5, "MEMBER_GROUPS_FULL": 15])
            }
            #expect(try await service.count("SELECT count(*) FROM members WHERE user_id = '\(jose)'") == 5)
        }
    }
}
