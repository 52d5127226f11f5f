import API
import Models
import Postgres
import RPC
import Testing

@testable import InvitesService

/// Random histories of numbers that change hands, while others are invited by them; each from a seed.
@Suite(.serialized) struct PhoneHistoryTests {
    /// What profile knows: who has which number, of which each user has one at most; and the events that come of it.
    private struct Numbers {
        var owners: [Int: UserID] = [:]
        var generator: SeededGenerator

        mutating func change(_ users: [UserID], _ count: Int) -> [InvitesV1.PhoneEvent] {
            let user = users[Int.random(in: 0..<users.count, using: &generator)]
            let number = Int.random(in: 0..<count, using: &generator)
            var events: [InvitesV1.PhoneEvent] = []
            let old = owners.first { $0.value == user }?.key
            func giveUp() {
                guard let old, old != number else { return }
                owners[old] = nil
                events.append(released(old, by: user))
            }
            switch (owners[number], Int.random(in: 0..<3, using: &generator)) {
            case (user, _):
                owners[number] = nil
                events.append(released(number, by: user))
            case (nil, _):
                giveUp()
                owners[number] = user
                events.append(claimed(number, by: user))
            case (let holder?, 0):
                giveUp()
                owners[number] = user
                events.append(taken(number, by: user, from: holder))
            default: break
            }
            return events
        }
    }

    @Test(arguments: 0..<12)
    func `In any history of numbers, each invited one is in its group once, and doubts are right`(
        seed: UInt64
    ) async throws {
        try await InvitesFixture.run { service in
            var numbers = Numbers(generator: SeededGenerator(state: seed))
            let users = (0..<5).map { _ in someone() }
            let count = 5
            var groups: [(id: String, owner: UserID)] = []
            for owner in users.prefix(3) { groups.append((try await service.group(by: owner), owner)) }
            let batches = (0..<40).map { _ in
                (0..<Int.random(in: 1...3, using: &numbers.generator)).flatMap { _ in numbers.change(users, count) }
            }
            // One relay tells in order, some of it twice; others invite meanwhile.
            let added = try await withThrowingTaskGroup(of: Set<String>.self) { [groups] tasks in
                tasks.addTask {
                    var generator = SeededGenerator(state: seed &+ 1_000)
                    for batch in batches {
                        try await service.apply(batch)
                        if Int.random(in: 0..<4, using: &generator) == 0 { try await service.apply(batch) }
                        if Int.random(in: 0..<6, using: &generator) == 0 {
                            // Somebody in doubt or not becomes an admin, who stays whatever becomes of the number.
                            try await service.database.execute(
                                """
                                UPDATE members SET role = 'admin' WHERE (group_id, member_id) IN (
                                    SELECT group_id, member_id FROM members WHERE user_id IS NOT NULL
                                    ORDER BY member_id LIMIT 1 OFFSET \(Int64.random(in: 0..<6, using: &generator)))
                                """
                            )
                        }
                    }
                    return []
                }
                for worker in 0..<2 {
                    tasks.addTask {
                        var generator = SeededGenerator(state: seed &* 10 &+ UInt64(worker))
                        var added: Set<String> = []
                        for _ in 0..<15 {
                            let group = groups[Int.random(in: 0..<groups.count, using: &generator)]
                            let number = Int.random(in: 0..<count, using: &generator)
                            try await service.add(phone(number), to: group.id, by: group.owner)
                            added.insert("\(group.id) \(number)")
                            try await Task.sleep(for: .microseconds(Int.random(in: 0..<4_000, using: &generator)))
                        }
                        return added
                    }
                }
                return try await tasks.reduce(into: Set()) { $0.formUnion($1) }
            }
            try await check(service, added, numbers.owners, "seed \(seed)")
        }
    }

    private func check(
        _ service: InvitesFixture,
        _ added: Set<String>,
        _ owners: [Int: UserID],
        _ comment: Comment
    ) async throws {
        #expect(!added.isEmpty)
        for pair in added {
            let parts = pair.split(separator: " ")
            let (group, number) = (parts[0], try #require(Int(parts[1])))
            let waiting = try await service.count(
                """
                SELECT count(*) FROM members
                WHERE group_id = '\(group)' AND phone = '\(e164(number).dropFirst())' AND user_id IS NULL
                """
            )
            #expect(waiting == (owners[number] == nil ? 1 : 0), "\(comment): \(pair)")
            guard let owner = owners[number] else { continue }
            let there = "SELECT count(*) FROM members WHERE group_id = '\(group)' AND user_id = '\(owner)'"
            #expect(try await service.count(there) == 1, "\(comment): \(pair)")
        }
        let wrongDoubts = """
            SELECT count(*) FROM members m JOIN phones p USING (phone)
            WHERE m.user_id IS NOT NULL AND (m.unconfirmed_at IS NULL) <> (p.user_id IS NOT DISTINCT FROM m.user_id)
            """
        #expect(try await service.count(wrongDoubts) == 0, comment)
        let strangers = """
            SELECT count(*) FROM groups g
            WHERE NOT EXISTS (SELECT FROM members m WHERE m.group_id = g.group_id AND m.user_id = g.owner_user_id)
            """
        #expect(try await service.count(strangers) == 0, comment)
        let twice = """
            SELECT count(*) FROM (
                SELECT FROM members WHERE user_id IS NOT NULL GROUP BY group_id, user_id HAVING count(*) > 1) AS doubled
            """
        #expect(try await service.count(twice) == 0, comment)
    }
}
