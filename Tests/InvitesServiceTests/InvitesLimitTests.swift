import API
import Models
import RPC
import ServiceKit
import TestDatabases
import Testing

@testable import InvitesService

@Suite(.serialized) struct InvitesLimitTests {
    private func limits(
        userAdds: Int = 1_000,
        addressAdds: Int = 1_000,
        userGroups: Int = 1_000,
        groupsMax: Int = 1_000
    ) -> InvitesLimits {
        InvitesLimits(
            userAdds: .daily("adds", countMax: userAdds),
            addressAdds: .daily("adds", countMax: addressAdds),
            userGroups: .daily("groups", countMax: userGroups),
            groupsMax: groupsMax
        )
    }

    /// How often each thing came of calls that were made at once: a reason, or `done`.
    private func outcomes(
        _ count: Int,
        _ call: @escaping @Sendable (Int) async throws(RPCError) -> Void
    ) async -> [String: Int] {
        await withTaskGroup(of: String.self) { group in
            for index in 0..<count {
                group.addTask {
                    do throws(RPCError) {
                        try await call(index)
                        return "done"
                    } catch {
                        return error.reason ?? "\(error)"
                    }
                }
            }
            return await group.reduce(into: [:]) { counts, reason in counts[reason, default: 0] += 1 }
        }
    }

    @Test func `A user adds only so many people a day, in all groups and of two replicas together`() async throws {
        let facts = try await TestDatabase.fresh(schema: "invites", hasOwner: true)
        try await InvitesFixture.run(on: facts, limits: limits(userAdds: 6)) { first in
            try await InvitesFixture.run(on: facts, limits: limits(userAdds: 6)) { second in
                let user = someone()
                let groups = [try await first.group(by: user), try await second.group(by: user)]
                let found = await outcomes(20) { index throws(RPCError) in
                    try await [first, second][index % 2].add(phone(index), to: groups[index / 2 % 2], by: user)
                }
                #expect(found == ["done": 6, "TOO_MANY_ATTEMPTS": 14])
                #expect(try await first.count("SELECT count(*) FROM members WHERE user_id IS NULL") == 6)
                // A number that was refused left nothing, which is what a list of numbers would otherwise be.
                #expect(try await first.count("SELECT count(*) FROM phones") == 6)
                let error = try await failure { try await first.add(phone(50), to: groups[0], by: user) }
                #expect(error.code == .resourceExhausted)
                #expect(try #require(error.retryAfter) > .seconds(86_000))
                // Others may, and so may the user tomorrow.
                let other = someone()
                try await second.add(phone(51), to: try await second.group(by: other), by: other)
                for fixture in [first, second] { fixture.clock.advance(milliseconds: 86_400_000) }
                try await second.add(phone(52), to: groups[0], by: user)
            }
        }
    }

    @Test func `A repetition is free`() async throws {
        try await InvitesFixture.run(limits: limits(userAdds: 1)) { service in
            let user = someone()
            let group = try await service.group(by: user)
            let member = try await service.add(phone(1), to: group, by: user)
            for _ in 0..<3 { #expect(try await service.add(phone(1), to: group, by: user).memberID == member.memberID) }
        }
    }

    @Test func `Finding out which number a member has now counts`() async throws {
        try await InvitesFixture.run(limits: limits(userAdds: 2)) { service in
            let (user, member) = (someone(), someone())
            let group = try await service.group(by: user)
            try await service.apply(claimed(1, by: member))
            try await service.add(phone(1), to: group, by: user)
            try await service.apply(released(1, by: member), claimed(2, by: member))
            #expect(try await service.add(phone(2), to: group, by: user).userID == member.description)
            let error = try await failure { try await service.add(phone(2), to: group, by: user) }
            #expect(error.reason == "TOO_MANY_ATTEMPTS")
        }
    }

    @Test func `All users of one address add only so many people`() async throws {
        try await InvitesFixture.run(limits: limits(addressAdds: 5)) { service in
            let found = await outcomes(12) { index throws(RPCError) in
                let user = someone()
                let group: String
                do { group = try await service.group(by: user) } catch { throw RPCError(thrown: error) }
                try await service.add(phone(index), to: group, by: user, from: "203.0.113.5")
            }
            #expect(found == ["done": 5, "TOO_MANY_ATTEMPTS": 7])
            let user = someone()
            let group = try await service.group(by: user)
            try await service.add(phone(30), to: group, by: user, from: "203.0.113.6")
            // The user's own count was undone with the refusal.
            #expect(try await service.count("SELECT count(*) FROM quotas WHERE kind = 'adds'") == 5 + 1 + 2)
        }
    }

    @Test func `A user makes only so many groups a day, and only so many at all`() async throws {
        let facts = try await TestDatabase.fresh(schema: "invites", hasOwner: true)
        let limits = limits(userGroups: 4, groupsMax: 6)
        try await InvitesFixture.run(on: facts, limits: limits) { first in
            try await InvitesFixture.run(on: facts, limits: limits) { second in
                let user = someone()
                func make(_ count: Int) async -> [String: Int] {
                    await outcomes(count) { index throws(RPCError) in
                        do { _ = try await [first, second][index % 2].group(by: user) } catch {
                            throw RPCError(thrown: error)
                        }
                    }
                }
                #expect(await make(10) == ["done": 4, "TOO_MANY_ATTEMPTS": 6])
                for fixture in [first, second] { fixture.clock.advance(milliseconds: 86_400_000) }
                #expect(await make(4) == ["done": 2, "TOO_MANY_GROUPS": 2])
                #expect(try await first.count("SELECT count(*) FROM groups") == 6)
                #expect(try await first.count("SELECT count(*) FROM members") == 6)
                _ = try await second.group(by: someone())
            }
        }
    }

    @Test func `Strangers of one address who add the same numbers never wait in a circle`() async throws {
        try await InvitesFixture.run(limits: limits()) { service in
            let users = (0..<4).map { _ in someone() }
            var groups: [String] = []
            for user in users { groups.append(try await service.group(by: user)) }
            let made = groups
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for worker in 0..<8 {
                    tasks.addTask {
                        var generator = SeededGenerator(state: UInt64(worker))
                        for _ in 0..<20 {
                            let index = Int.random(in: 0..<4, using: &generator)
                            let number = Int.random(in: 0..<12, using: &generator)
                            let address = "192.0.2.\(Int.random(in: 1...2, using: &generator))"
                            try await service.add(phone(number), to: made[index], by: users[index], from: address)
                        }
                    }
                }
                try await tasks.waitForAll()
            }
            let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
            #expect(try await service.count(deadlocks) == 0)
        }
    }
}
