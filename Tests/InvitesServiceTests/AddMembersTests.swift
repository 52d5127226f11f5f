import API
import Models
import Postgres
import RPC
import ServiceKit
import TestDatabases
import Testing

@testable import InvitesService

/// A request that adds many people: each has its own result, by the rules of a single addition.
@Suite(.serialized) struct AddMembersTests {
    private func limits(
        userAdds: Int = 1_000,
        addressAdds: Int = 1_000,
        numbers: Int = 1_000,
        pending: Int = 1_000
    ) -> InvitesLimits {
        var limits = InvitesFixture.unlimited
        limits.userAdds = .daily("adds", countMax: userAdds)
        limits.addressAdds = .daily("adds", countMax: addressAdds)
        limits.userNumbers = .init(kind: "numbers", countMax: numbers, windowMilliseconds: 30 * 86_400_000)
        limits.pendingMax = pending
        return limits
    }

    /// The result of each: a user's id, "pending", or a reason.
    private func outcomes(_ results: [AppV1.AddMembersResult]) -> [String] {
        results.map { result in
            switch result.outcome {
            case .member(let member): member.state == .member ? member.userID : "\(member.state)"
            case .refusal(let refusal): refusal.reason
            case nil: "nothing"
            }
        }
    }

    @Test func `Each person has a separate result, in the order of the request`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let group = try await service.group(by: maria)
            try await service.apply(claimed(1, by: jose), claimed(2, by: jose), claimed(3, by: ana))
            try await service.add(phone(3), to: group, by: maria)
            let results = try await service.add(
                [phone(9), phone(1), "nonsense", phone(2), e164(9), phone(3), ""],
                to: group,
                by: maria
            )
            #expect(
                outcomes(results) == [
                    "pending", jose.description, "PHONE_INVALID", jose.description, "pending", ana.description,
                    "PHONE_INVALID",
                ]
            )
            #expect(results[0].member == results[4].member, "the same number twice is the same member twice")
            #expect(results[1].member == results[3].member, "and so are two numbers of one user")
            #expect(results[2].refusal.field == "phone_number" && !results[2].refusal.message.isEmpty)
            #expect(try await service.members(of: group, askedBy: maria).members.count == 4)
            // Again: nothing changes.
            #expect(try await service.add([phone(9), phone(1)], to: group, by: maria) == Array(results.prefix(2)))
        }
    }

    @Test func `A request has one to five hundred people, and a non-member adds nobody`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            for count in [0, 501] {
                let phones = (0..<count).map(phone)
                #expect(await outcome { try await service.add(phones, to: group, by: maria) } == "PEOPLE_COUNT_INVALID")
            }
            for phones in [[phone(1)], ["x"]] {
                #expect(await outcome { try await service.add(phones, to: group, by: someone()) } == "NOT_A_MEMBER")
            }
            let results = try await service.add((0..<500).map(phone), to: group, by: maria)
            #expect(results.count == 500 && results.allSatisfy { $0.member.state == .pending })
            #expect(try await service.count("SELECT count(*) FROM members") == 501)
            #expect(try await service.apply(claimed(499, by: someone())) == 1)
        }
    }

    @Test func `A group is filled to its limit, and no further`() async throws {
        try await InvitesFixture.run(groupMembersMax: 4) { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            try await service.add(phone(1), to: group, by: maria)
            let results = try await service.add((1...5).map(phone), to: group, by: maria)
            #expect(outcomes(results) == ["pending", "pending", "pending", "GROUP_FULL", "GROUP_FULL"])
            // Nothing is counted or stored for people who had no place.
            #expect(try await service.count("SELECT count FROM quotas WHERE kind = 'adds'") == 3)
            #expect(try await service.count("SELECT count(*) FROM asked_numbers") == 3)
        }
    }

    @Test func `A refused number frees no room for the next one, and its result doesn't say whose it is`()
        async throws
    {
        try await InvitesFixture.run(groupMembersMax: 4, limits: limits(userAdds: 2)) { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(3, by: jose))
            let group = try await service.group(by: maria)
            try await service.add(phone(1), to: group, by: maria)
            // There is room for two, but the day's quota allows one addition.
            let some = try await service.add([phone(7), phone(8), phone(3)], to: group, by: maria)
            #expect(outcomes(some) == ["pending", "TOO_MANY_ATTEMPTS", "GROUP_FULL"])
            let none = try await service.add([phone(9), phone(3)], to: group, by: maria)
            #expect(outcomes(none) == ["TOO_MANY_ATTEMPTS", "GROUP_FULL"])
            #expect(try await service.members(of: group, askedBy: maria).members.count == 3)
        }
    }

    @Test func `Beyond the day's quota the first of a batch are added, and nothing of the rest is stored`()
        async throws
    {
        try await InvitesFixture.run(limits: limits(userAdds: 4)) { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            try await service.add(phone(1), to: group, by: maria)
            let results = try await service.add((1...7).map(phone), to: group, by: maria)
            let refused = Array(repeating: "TOO_MANY_ATTEMPTS", count: 3)
            #expect(outcomes(results) == ["pending", "pending", "pending", "pending"] + refused)
            let wait = try #require(results.last).refusal.retryAfterSeconds
            #expect(wait > 86_000 && wait <= 86_400)
            let left = [
                "SELECT count(*) FROM members WHERE user_id IS NULL", "SELECT count(*) FROM phones",
                "SELECT count(*) FROM asked_numbers", "SELECT count FROM quotas WHERE kind = 'adds'",
            ]
            for sql in left { #expect(try await service.count(sql) == 4, "\(sql)") }
            // A batch that adds nobody stores nothing either.
            let none = try await service.add([phone(8), phone(9)], to: group, by: maria)
            #expect(outcomes(none) == Array(refused.prefix(2)))
            #expect(await outcome { try await service.add(phone(8), to: group, by: maria) } == "TOO_MANY_ATTEMPTS")
            for sql in left { #expect(try await service.count(sql) == 4, "\(sql)") }
            service.clock.advance(milliseconds: 86_400_000)
            #expect(outcomes(try await service.add([phone(8)], to: group, by: maria)) == ["pending"])
        }
    }

    @Test func `The quota of an address applies to a batch too, and the user's is given back`() async throws {
        try await InvitesFixture.run(limits: limits(addressAdds: 3)) { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            let results = try await service.add((1...5).map(phone), to: group, by: maria, from: "203.0.113.5")
            let refused = Array(repeating: "TOO_MANY_ATTEMPTS", count: 2)
            #expect(outcomes(results) == ["pending", "pending", "pending"] + refused)
            #expect(try await service.count("SELECT sum(count) FROM quotas WHERE kind IN ('adds', 'numbers')") == 9)
            let elsewhere = try await service.add((4...5).map(phone), to: group, by: maria, from: "203.0.113.6")
            #expect(outcomes(elsewhere) == ["pending", "pending"])
        }
    }

    @Test func `Different numbers count for thirty days, and a repeated number is free`() async throws {
        try await InvitesFixture.run(limits: limits(numbers: 3)) { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            let first = try await service.add((1...3).map(phone), to: group, by: maria)
            for result in first { try await service.remove(result.member.memberID, from: group, by: maria) }
            service.clock.advance(milliseconds: 86_400_000)
            let second = try await service.add([phone(4), phone(1), phone(2)], to: group, by: maria)
            #expect(outcomes(second) == ["TOO_MANY_ATTEMPTS", "pending", "pending"])
            #expect(second[0].refusal.retryAfterSeconds > 28 * 86_400)
            #expect(await outcome { try await service.add(phone(5), to: group, by: maria) } == "TOO_MANY_ATTEMPTS")
            // Another group of the same user counts too, and another user's doesn't.
            let other = try await service.group(by: maria)
            let mixed = try await service.add([phone(3), phone(5)], to: other, by: maria)
            #expect(outcomes(mixed) == ["pending", "TOO_MANY_ATTEMPTS"])
            let jose = someone()
            try await service.add(phone(5), to: try await service.group(by: jose), by: jose)
            service.clock.advance(milliseconds: 30 * 86_400_000)
            await service.parts.cleanup.clean()
            #expect(try await service.count("SELECT count(*) FROM asked_numbers") == 0)
            let later = try await service.add((4...6).map(phone), to: group, by: maria)
            #expect(outcomes(later) == ["pending", "pending", "pending"])
        }
    }

    @Test func `A user can wait for a limited number of people in all groups, and then no number is looked up`()
        async throws
    {
        try await InvitesFixture.run(limits: limits(pending: 3)) { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(50, by: jose))
            let groups = [try await service.group(by: maria), try await service.group(by: maria)]
            try await service.add(phone(1), to: groups[0], by: maria)
            let results = try await service.add((2...5).map(phone), to: groups[1], by: maria)
            #expect(outcomes(results) == ["pending", "pending", "TOO_MANY_PENDING", "TOO_MANY_PENDING"])
            // Whether or not a user has the number.
            for number in [50, 51] {
                let reason = await outcome { try await service.add(phone(number), to: groups[0], by: maria) }
                #expect(reason == "TOO_MANY_PENDING")
            }
            #expect(try await service.count("SELECT count(*) FROM phones") == 4)
            #expect(try await service.count("SELECT count FROM quotas WHERE kind = 'adds'") == 3)
            // A person who registers or is removed frees a place.
            try await service.apply(claimed(1, by: someone()))
            #expect(try await service.add(phone(50), to: groups[0], by: maria).userID == jose.description)
            try await service.add(phone(6), to: groups[0], by: maria)
            try await service.remove(results[0].member.memberID, from: groups[1], by: maria)
            try await service.add(phone(7), to: groups[0], by: maria)
            #expect(await outcome { try await service.add(phone(8), to: groups[0], by: maria) } == "TOO_MANY_PENDING")
        }
    }

    @Test func `The limit of pending people holds for two replicas together`() async throws {
        let facts = try await TestDatabase.fresh(schema: "invites", hasOwner: true)
        let limits = limits(pending: 20)
        try await InvitesFixture.run(on: facts, limits: limits) { first in
            try await InvitesFixture.run(on: facts, limits: limits) { second in
                let maria = someone()
                let groups = [try await first.group(by: maria), try await second.group(by: maria)]
                let added = try await withThrowingTaskGroup(of: Int.self) { tasks in
                    for index in 0..<8 {
                        tasks.addTask {
                            let numbers = (0..<5).map { phone(index * 5 + $0) }
                            let results = try await [first, second][index % 2]
                                .add(numbers, to: groups[index / 2 % 2], by: maria)
                            return results.count { $0.member.state == .pending }
                        }
                    }
                    return try await tasks.reduce(0, +)
                }
                #expect(added == 20)
                #expect(try await first.count("SELECT count(*) FROM members WHERE user_id IS NULL") == 20)
                #expect(try await first.count("SELECT count(*) FROM phones") == 20)
            }
        }
    }

    @Test func `A refused number isn't counted`() async throws {
        try await InvitesFixture.run(limits: limits(pending: 2)) { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            let first = try await service.add([phone(1), phone(2)], to: group, by: maria)
            try await service.remove(first[0].member.memberID, from: group, by: maria)
            service.clock.advance(milliseconds: 29 * 86_400_000)
            await service.parts.cleanup.clean()
            try await service.database.execute("DELETE FROM quotas WHERE kind = 'numbers'")
            // There is room for one, a repeated number. Nothing of the new number is stored, nor a count that began with it.
            let results = try await service.add([phone(1), phone(3)], to: group, by: maria)
            #expect(outcomes(results) == ["pending", "TOO_MANY_PENDING"])
            #expect(try await service.count("SELECT count(*) FROM quotas WHERE kind = 'numbers'") == 0)
        }
    }

    @Test func `After a used-up quota nobody becomes pending, and known results are returned`() async throws {
        for spent in [limits(userAdds: 3), limits(addressAdds: 3), limits(numbers: 3), limits(pending: 1)] {
            try await InvitesFixture.run(limits: spent) { service in
                let (maria, jose, ana) = (someone(), someone(), someone())
                try await service.apply(
                    claimed(1, by: jose),
                    claimed(2, by: ana),
                    claimed(3, by: ana),
                    claimed(4, by: someone())
                )
                let group = try await service.group(by: maria)
                for number in [1, 2, 9] {
                    try await service.add(phone(number), to: group, by: maria, from: "203.0.113.5")
                }
                let refused = spent.pendingMax == 1 ? "TOO_MANY_PENDING" : "TOO_MANY_ATTEMPTS"
                // Other users have the numbers and the group meanwhile.
                let others = [phone(3), phone(4), phone(8)]
                try await service.database.execute("INSERT INTO phones (phone) VALUES ('639171000008')")
                let answers = try await service.database.withTransaction { transaction in
                    try await transaction.query(
                        "SELECT FROM phones WHERE right(phone, 1) IN ('3', '4', '8') FOR UPDATE"
                    )
                    try await transaction.query("SELECT FROM groups FOR UPDATE")
                    return try await service.add(others, to: group, by: maria, from: "203.0.113.5")
                }
                #expect(outcomes(answers) == [refused, refused, refused])
                let mixed = try await service.add(
                    [phone(1), phone(9)] + others,
                    to: group,
                    by: maria,
                    from: "203.0.113.5"
                )
                #expect(outcomes(mixed) == [jose.description, "pending", refused, refused, refused])
                #expect(
                    await outcome { try await service.add(others, to: group, by: someone(), from: "203.0.113.5") }
                        == "NOT_A_MEMBER"
                )
            }
        }
    }

    @Test func `A person whose account may be absorbed is refused alone`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let group = try await service.group(by: maria)
            #expect(try await service.hold(jose, EventID.of(1)))
            let results = try await service.add((1...2).map(phone), to: group, by: maria)
            #expect(outcomes(results) == ["ACCOUNT_HELD", "pending"])
            #expect(results[0].refusal.retryAfterSeconds == 1)
        }
    }
}
