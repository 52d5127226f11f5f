import API
import Models
import Postgres
import ProfileDomain
import RPC
import Testing

@testable import ProfileService

@Suite(.serialized) struct ProfileRaceTests {
    /// What every order of saves must end with.
    private func checkInvariants(_ service: ProfileFixture) async throws {
        let strays = try await service.count(
            """
            SELECT count(*) FROM phones FULL JOIN profiles
                ON profiles.user_id = phones.user_id AND profiles.phone = phones.phone
            WHERE phones.phone IS NULL AND profiles.phone IS NOT NULL OR profiles.user_id IS NULL
            """
        )
        #expect(strays == 0, "each profile's phone is in phones, and nothing else is")
        // The events, applied in order, say the same as the tables.
        var owners: [String: String] = [:]
        for event in try await service.waitingEvents() {
            let words = event.split(separator: " ").map(String.init)
            if words[0] == "claimed" {
                #expect(owners[words[1]] == nil, "\(words[1]) is claimed while somebody has it")
                owners[words[1]] = words[2]
            } else {
                #expect(owners[words[1]] == words[2], "\(words[1]) is released by who has it")
                owners[words[1]] = nil
            }
        }
        let rows = try await service.database.query("SELECT phone, user_id::text FROM phones")
        let stored = try rows.map { try $0.decode(String.self, String.self) }
        #expect(Dictionary(uniqueKeysWithValues: stored) == owners)
    }

    @Test func `Of many users who claim a number at once one gets it`() async throws {
        try await ProfileFixture.run { service in
            for round in 0..<15 {
                let winners = await withTaskGroup(of: Int.self) { group in
                    for _ in 0..<12 {
                        group.addTask {
                            do throws(RPCError) {
                                try await service.update(someone(), phone: phone(round))
                                return 1
                            } catch {
                                #expect(error.reason == "PHONE_TAKEN")
                                return 0
                            }
                        }
                    }
                    return await group.reduce(0, +)
                }
                #expect(winners == 1)
            }
            #expect(try await service.count("SELECT count(*) FROM phones") == 15)
            try await checkInvariants(service)
        }
    }

    @Test func `One user's concurrent saves end with one of their numbers`() async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            try await withThrowingTaskGroup { group in
                for number in 0..<20 {
                    group.addTask { _ = try await service.update(user, phone: phone(number % 5)) }
                }
                try await group.waitForAll()
            }
            #expect(try await service.count("SELECT count(*) FROM phones") == 1)
            try await checkInvariants(service)
        }
    }

    @Test func `Users who take each other's numbers and names never wait in a circle`() async throws {
        try await ProfileFixture.run(tryLimit: TryLimit(triesMax: 1_000, windowMilliseconds: 1_000)) { service in
            let users = (0..<4).map { _ in someone() }
            try await withThrowingTaskGroup { group in
                for worker in 0..<8 {
                    group.addTask {
                        var generator = SeededGenerator(state: UInt64(worker))
                        for _ in 0..<25 {
                            let user = users.randomElement(using: &generator) ?? users[0]
                            let number = Int.random(in: 0..<5, using: &generator)
                            let name = "name_\(Int.random(in: 0..<5, using: &generator))"
                            do throws(RPCError) {
                                try await service.update(user, phone: phone(number), username: name)
                            } catch {
                                #expect(["PHONE_TAKEN", "USERNAME_TAKEN"].contains(error.reason), "\(error)")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await checkInvariants(service)
            #expect(
                try await service.count(
                    """
                    SELECT count(*) FROM usernames u FULL JOIN profiles p
                        ON p.user_id = u.user_id AND lower(p.username) = u.username_key
                    WHERE u.user_id IS NULL AND p.username IS NOT NULL OR p.user_id IS NULL
                    """
                ) == 0
            )
        }
    }

    @Test func `Tries at once are all counted`() async throws {
        try await ProfileFixture.run(tryLimit: TryLimit(triesMax: 5, windowMilliseconds: 60_000)) { service in
            try await service.update(someone(), phone: phone(1))
            let guesser = someone()
            let reasons = await withTaskGroup(of: String?.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        do throws(RPCError) {
                            try await service.update(guesser, phone: phone(1))
                            return nil
                        } catch {
                            return error.reason
                        }
                    }
                }
                return await group.reduce(into: [:]) { counts, reason in counts[reason ?? "none", default: 0] += 1 }
            }
            #expect(reasons == ["PHONE_TAKEN": 5, "TOO_MANY_ATTEMPTS": 15])
        }
    }
}

/// Numbers that repeat from a seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
