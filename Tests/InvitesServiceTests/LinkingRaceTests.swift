import API
import Models
import RPC
import Testing

@testable import InvitesService

/// Registrations and invitations at the same moment, many times, each from a seed.
@Suite(.serialized) struct LinkingRaceTests {
    /// Waits a little, or not at all, as the generator says.
    private func dawdle(_ generator: inout SeededGenerator) async throws {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: break
        case 1: await Task.yield()
        default: try await Task.sleep(for: .microseconds(Int.random(in: 0..<2_000, using: &generator)))
        }
    }

    /// What must hold whatever happened.
    private func checkInvariants(_ service: InvitesFixture) async throws {
        #expect(
            try await service.count(
                """
                SELECT count(*) FROM members m JOIN phones p ON p.phone = m.phone
                WHERE m.user_id IS NULL AND p.user_id IS NOT NULL
                """
            ) == 0,
            "nobody waits for a number that a user has"
        )
        #expect(
            try await service.count(
                """
                SELECT count(*) FROM (
                    SELECT 1 FROM members GROUP BY group_id, coalesce(user_id::text, phone) HAVING count(*) > 1
                ) AS doubled
                """
            ) == 0,
            "nobody is in a group twice"
        )
    }

    @Test func `A claim and invitations at the same moment make exactly one member`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            for seed in 0..<80 {
                let group = try await service.group("Group \(seed)", by: maria)
                let jose = someone()
                let claim = claimed(seed, by: jose)
                try await withThrowingTaskGroup { tasks in
                    for task in 0..<4 {
                        tasks.addTask {
                            var generator = SeededGenerator(state: UInt64(seed * 10 + task))
                            try await dawdle(&generator)
                            switch task {
                            case 0, 1: try await service.add(phone(seed), to: group, by: maria)
                            // Twice, as after a relay that lost the answer.
                            default: try await service.apply(claim)
                            }
                        }
                    }
                    try await tasks.waitForAll()
                }
                let members = try await service.members(of: group, askedBy: maria).members
                #expect(members.map(\.state) == [.member, .member], "seed \(seed)")
                #expect(members.map(\.userID) == [maria, jose].map(\.description), "seed \(seed)")
            }
            try await checkInvariants(service)
        }
    }

    @Test func `Two numbers of one user, claimed and invited at once, make exactly one member`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            for seed in 0..<60 {
                let group = try await service.group("Group \(seed)", by: maria)
                let jose = someone()
                let (first, second) = (2 * seed, 2 * seed + 1)
                try await service.add(phone(first), to: group, by: maria)
                try await withThrowingTaskGroup { tasks in
                    for task in 0..<3 {
                        tasks.addTask {
                            var generator = SeededGenerator(state: UInt64(seed * 10 + task))
                            try await dawdle(&generator)
                            switch task {
                            case 0: try await service.apply(claimed(first, by: jose))
                            case 1: try await service.apply(claimed(second, by: jose))
                            default: try await service.add(phone(second), to: group, by: maria)
                            }
                        }
                    }
                    try await tasks.waitForAll()
                }
                let members = try await service.members(of: group, askedBy: maria).members
                #expect(members.map(\.userID) == [maria, jose].map(\.description), "seed \(seed)")
            }
            try await checkInvariants(service)
        }
    }

    @Test func `Batches of many numbers and invitations of them never wait in a circle`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            var groups: [String] = []
            for number in 0..<3 { groups.append(try await service.group("Group \(number)", by: maria)) }
            let users = (0..<4).map { _ in someone() }
            try await withThrowingTaskGroup { [groups] tasks in
                for worker in 0..<8 {
                    tasks.addTask {
                        var generator = SeededGenerator(state: UInt64(worker))
                        for _ in 0..<20 {
                            if worker.isMultiple(of: 2) {
                                let number = Int.random(in: 0..<12, using: &generator)
                                let group = groups[Int.random(in: 0..<groups.count, using: &generator)]
                                try await service.add(phone(number), to: group, by: maria)
                            } else {
                                let user = users[Int.random(in: 0..<users.count, using: &generator)]
                                let numbers = Array(0..<12).shuffled(using: &generator).prefix(6)
                                try await service.apply(numbers.map { claimed($0, by: user) })
                            }
                        }
                    }
                }
                try await tasks.waitForAll()
            }
            try await checkInvariants(service)
        }
    }

    @Test func `A group never gets more members than it may have`() async throws {
        try await InvitesFixture.run(groupMembersMax: 6) { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            let added = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for number in 0..<20 {
                    tasks.addTask {
                        do {
                            try await service.add(phone(number), to: group, by: maria)
                            return 1
                        } catch let error as RPCError where error.reason == "GROUP_FULL" {
                            return 0
                        }
                    }
                }
                return try await tasks.reduce(0, +)
            }
            #expect(added == 5)
            #expect(try await service.members(of: group, askedBy: maria).members.count == 6)
        }
    }
}
